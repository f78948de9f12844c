/** What columns of the platform's own tables hold as JSON. */

/** What each field that changed was and became; of secrets, and of what is known of a contact, only that it did. */
export type Changes = Record<string, { from: unknown; to: unknown } | { secret: true } | { personal: true }>;
