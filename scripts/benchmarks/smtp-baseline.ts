/** Baseline of submission: the least server that keeps each message before its 250: a file, fsync, rename, one FULL insert. `bun smtp-baseline.ts DIRECTORY`. */
import { Database } from 'bun:sqlite';
import { open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { SMTPServer, type SMTPServerDataStream } from 'smtp-server';

const [dir = '.'] = process.argv.slice(2);
const db = new Database(join(dir, 'baseline.db'));
db.run('PRAGMA journal_mode = WAL');
db.run('PRAGMA synchronous = FULL');
db.run('CREATE TABLE IF NOT EXISTS rows (id INTEGER PRIMARY KEY, body TEXT)');
const insert = db.query('INSERT INTO rows (body) VALUES (?)');
let n = 0;

async function keep(stream: SMTPServerDataStream): Promise<void> {
  n += 1;
  const name = join(dir, `message-${n}`);
  const file = await open(`${name}.part`, 'wx', 0o600);
  for await (const chunk of stream) await file.write(chunk);
  await file.sync();
  await file.close();
  await rename(`${name}.part`, name);
  insert.run(name);
}

const server = new SMTPServer({
  allowInsecureAuth: true,
  disableReverseLookup: true,
  hideSTARTTLS: true,
  logger: false,
  onAuth: (_auth, _session, done) => done(null, { user: 'bench' }),
  onData: (stream, _session, done) => void keep(stream).then(() => done(), done),
});
server.listen(0, '127.0.0.1', () => {
  const address = server.server.address();
  if (typeof address === 'object') process.stdout.write(`listening on smtp://127.0.0.1:${address?.port}\n`);
});
