/** Lists: a page must cost the same whatever the size of its table. */
import { Database } from 'bun:sqlite';
import { join } from 'node:path';
import { latencies, makeKey, median, ms, type Row, row, scratchDir, startSatchel } from './harness.ts';

const SMALL = 1_000;
const LARGE = 100_000;

export async function measureLists(): Promise<Row[]> {
  const data_dir = scratchDir();
  const first = await startSatchel({}, data_dir);
  const keys = [await makeKey(first, 'small'), await makeKey(first, 'large')];
  await first.stop();
  seedObjects(data_dir, 'small', SMALL);
  seedObjects(data_dir, 'large', LARGE);
  const satchel = await startSatchel({}, data_dir);
  const [small_key = '', large_key = ''] = keys;
  const list = (key: string, query: string) => () =>
    fetch(`${satchel.url}/api/v1/objects?per_page=20${query}`, { headers: { 'X-API-Key': key } });
  const rows: Row[] = [];
  for (const [name, query] of [
    ['list of 20', ''],
    ['list of 20 public ones', '&visibility=public'],
  ] as const) {
    await latencies(300, list(small_key, query));
    await latencies(300, list(large_key, query));
    const small: number[] = [];
    const large: number[] = [];
    for (let n = 0; n < 3; n += 1) {
      small.push(median(await latencies(500, list(small_key, query))));
      large.push(median(await latencies(500, list(large_key, query))));
    }
    const [ours, baseline] = [median(large), median(small)];
    rows.push(
      row(`${name} out of 100,000 objects against 1,000`, {
        ours: ms(ours),
        baseline: ms(baseline),
        ratio: ours / baseline,
        at_most: 1.5,
      }),
    );
  }
  await satchel.stop();
  return rows;
}

/** Rows only: a list never looks at the bytes. */
export function seedObjects(data_dir: string, slug: string, count: number): void {
  const db = new Database(join(data_dir, 'satchel.db'), { readwrite: true, strict: true });
  const project = db.query('SELECT id FROM projects WHERE slug = ?').values(slug)[0]?.[0];
  const insert = db.query(
    `INSERT INTO objects (public_id, project_id, original_filename, mime_type, size_bytes, sha256, visibility, created_at, store)
     VALUES (?, ?, 'a.bin', 'application/octet-stream', 1, ?, ?, ?, 'local')`,
  );
  db.transaction(() => {
    for (let n = 0; n < count; n += 1) {
      insert.run(
        `0${slug.toUpperCase().slice(0, 2)}${String(n).padStart(23, '0')}`,
        Number(project),
        '0'.repeat(64),
        n % 2 ? 'public' : 'private',
        n + 1,
      );
    }
  })();
  db.close();
}
