package archive

import (
	"context"
	"sync"
)

// inOrder calls build for 0 … n-1 on several goroutines, and take with the
// results in order. At most twice as many results as there are goroutines
// wait for their turn.
func inOrder[T any](ctx context.Context, n int64, workers int, build func(int64) T, take func(T) error) error {
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	type job struct {
		n   int64
		out chan T
	}
	jobs := make(chan job)
	turns := make(chan chan T, workers)
	for range workers {
		all.Go(func() {
			for j := range jobs {
				j.out <- build(j.n)
			}
		})
	}
	all.Go(func() {
		defer close(jobs)
		defer close(turns)
		for i := range n {
			j := job{i, make(chan T, 1)}
			select {
			case turns <- j.out:
			case <-ctx.Done():
				return
			}
			select {
			case jobs <- j:
			case <-ctx.Done():
				return
			}
		}
	})
	for out := range turns {
		select {
		case v := <-out:
			if err := take(v); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return ctx.Err()
}
