// Client of a fairdice service: types from openapi.yaml, and the little that HTTP needs by hand.
export { Client } from './client.js'
export type { Address, Answer, ClientOptions, Init, Schemas } from './client.js'
export type { FeedEvent, FeedInit, LogEvent } from './feed.js'
export { Refusal, codeOf } from './refusal.js'
export { WebhookError, verifyWebhook } from './webhook.js'
export type { WebhookOptions } from './webhook.js'
export type { components, operations, paths } from './types.gen.js'
