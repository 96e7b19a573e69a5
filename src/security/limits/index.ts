// The entry point of the limits. Other folders import only from here.

export { type Bucket, type BucketStore, type Buckets, createMemoryBuckets } from './bucket.ts';
export { type CallLimit, limitCalls } from './call-limits.ts';
export { type ConcurrencyOptions, type ConcurrencyRule, limitConcurrency } from './concurrency.ts';
export { type LoadShedding, type SheddingOptions, shedLoad } from './load-shedding.ts';
export { type RateLimitOptions, type RateRule, rateLimit } from './rate-limit.ts';
export type { LimitScope, LimitTarget } from './scope.ts';
