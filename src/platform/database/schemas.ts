/** What columns of the platform's own tables hold as JSON. */

/**
 * What each field that changed was and became. Of secrets and of contacts' data it tells only that it
 * changed.
 */
export type Changes = Record<string, { from: unknown; to: unknown } | { secret: true } | { personal: true }>;
