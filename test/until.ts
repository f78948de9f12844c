/** Waiting for what nothing tells of: a row in another process's database, a file on the disk. */

const POLL_MS = 5;
/** Decision: what has not come by then never will, however busy the machine is. */
const GIVE_UP_MS = 60_000;

/** Resolves once `holds` does; throws after a minute. Where something tells of it (a sink, a reply), await that. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  const give_up_ms = performance.now() + GIVE_UP_MS;
  while (!(await holds())) {
    if (performance.now() > give_up_ms) throw new Error(`never came: ${holds}`);
    await Bun.sleep(POLL_MS);
  }
}
