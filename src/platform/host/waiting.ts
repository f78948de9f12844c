/** Waiting for something no longer than somebody else can wait. */

/** What comes of it in time; it goes on in any case. */
export async function within<T>(work: Promise<T>, wait_ms: number): Promise<T | 'not yet'> {
  const { promise, resolve } = Promise.withResolvers<'not yet'>();
  const give_up = setTimeout(() => resolve('not yet'), Math.max(0, wait_ms));
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(give_up);
  }
}
