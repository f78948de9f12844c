/** Waiting for what nothing tells of: a row in another process's database, a file on the disk. */

const POLL_MS = 5;
/** Decision: what has not come by then never will, however busy the machine is. */
const GIVE_UP_MS = 60_000;

/** Resolves once `holds` does; throws after a minute, or what is given. Where something tells of it (a sink, a reply), await that. */
export async function until(
  holds: () => boolean | Promise<boolean>,
  give_up_ms: number = GIVE_UP_MS,
): Promise<void> {
  const until_ms = performance.now() + give_up_ms;
  while (!(await holds())) {
    if (performance.now() > until_ms) throw new Error(`never came: ${holds}`);
    await Bun.sleep(POLL_MS);
  }
}
