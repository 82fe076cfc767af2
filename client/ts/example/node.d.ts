// What the example uses of Node.js, so that the package needs no types of it.
declare module 'node:fs/promises' {
  export interface FileHandle {
    writeFile (text: string): Promise<void>
    sync (): Promise<void>
    close (): Promise<void>
  }
  export function open (path: string, flags: string, mode?: number): Promise<FileHandle>
  export function rename (from: string, to: string): Promise<void>
  export function readFile (path: string, encoding: 'utf8'): Promise<string>
  export function writeFile (path: string, data: string | Uint8Array): Promise<void>
}
declare const process: { argv: string[], env: { [name: string]: string | undefined } }
