/** Baselines: the least code that could do the same work. Run as `bun baseline.ts KIND DIRECTORY`. */
import { Database } from 'bun:sqlite';
import { open, rename } from 'node:fs/promises';
import { join } from 'node:path';

const [kind = '', dir = '.'] = process.argv.slice(2);
const db = new Database(join(dir, 'baseline.db'));
db.run('PRAGMA journal_mode = WAL');
db.run('PRAGMA synchronous = FULL');
db.run('CREATE TABLE IF NOT EXISTS rows (id INTEGER PRIMARY KEY, body TEXT)');
const insert = db.query('INSERT INTO rows (body) VALUES (?)');
const select = db.query('SELECT * FROM rows WHERE id = ?');
let n = 0;

const handlers: Record<string, (request: Request) => Promise<Response> | Response> = {
  /** FileHandle, fsync, rename, one FULL insert each. */
  async upload(request) {
    const bytes = new Uint8Array(await request.arrayBuffer());
    n += 1;
    const temp = join(dir, `temp-${n}`);
    const file = await open(temp, 'wx', 0o600);
    await file.write(bytes);
    await file.sync();
    await file.close();
    await rename(temp, join(dir, `file-${n}`));
    insert.run(`file-${n}`);
    return Response.json({ n }, { status: 201 });
  },
  file: () => new Response(Bun.file(join(dir, 'object'))),
  /** One FULL insert each. */
  async insert(request) {
    const body = await request.text();
    JSON.parse(body);
    insert.run(body);
    return Response.json({ ok: true }, { status: 202 });
  },
  /** One indexed read each. */
  read: () => Response.json(select.get(1) ?? {}),
};

insert.run('first');
const fetch = handlers[kind];
if (!fetch) throw new Error(`no baseline ${kind}`);
const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch });
process.stdout.write(`listening on http://127.0.0.1:${server.port}\n`);
