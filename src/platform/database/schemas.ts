/** What columns of the platform's own tables hold as JSON. */

/** What each changed field was and became. Of secrets and contacts' data it only tells that they did. */
export type Changes = Record<string, { from: unknown; to: unknown } | { secret: true } | { personal: true }>;
