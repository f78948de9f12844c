/** What is found wrong with a database, and that finding it costs little more than reading it. */
import { Database as Sqlite } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect, listDefects } from '../../../src/platform/database/plain-connection.ts';
import { makeTempDir } from '../../support/temp.ts';

/** A table with an index in random order, of some rows. */
function makeTable(rows: number): { path: string; sqlite: Sqlite } {
  const path = join(makeTempDir(), 'some.db');
  const sqlite = new Sqlite(path, { create: true });
  sqlite.run('CREATE TABLE people (id INTEGER PRIMARY KEY, token TEXT NOT NULL UNIQUE, name TEXT)');
  sqlite.run('CREATE INDEX people_by_name ON people (name)');
  sqlite.run(
    'CREATE TABLE tags (tag TEXT, id INTEGER REFERENCES people (id), PRIMARY KEY (tag, id)) WITHOUT ROWID',
  );
  sqlite.run(
    `WITH RECURSIVE n (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < ?)
     INSERT INTO people SELECT id, hex(randomblob(32)), hex(randomblob(32)) FROM n`,
    [rows],
  );
  return { path, sqlite };
}

function defectsOf(path: string): string[] {
  const sqlite = connect(path, { query_only: true });
  try {
    return listDefects(sqlite);
  } finally {
    sqlite.close();
  }
}

test('an index with other rows than its table, and a row that names another which is not there, are found', () => {
  const { path, sqlite } = makeTable(10);
  sqlite.run('CREATE TABLE towns (name TEXT)');
  sqlite.run('CREATE INDEX towns_by_name ON towns (name)');
  expect(defectsOf(path)).toEqual([]);
  sqlite.run("INSERT INTO tags VALUES ('a', 12)");
  sqlite.close();
  // Each gets the other's pages, which are sound by themselves: the number of the first stands before the statement.
  const bytes = readFileSync(path);
  const [people = 0, towns = 0] = ['people', 'towns'].map(
    (name) => bytes.indexOf(`CREATE INDEX ${name}_by_name`) - 1,
  );
  const [of_people, of_towns] = [bytes.readUInt8(people), bytes.readUInt8(towns)];
  bytes.writeUInt8(of_towns, people);
  bytes.writeUInt8(of_people, towns);
  writeFileSync(path, bytes);
  expect(defectsOf(path)).toEqual([
    'wrong # of entries in index towns_by_name',
    'wrong # of entries in index people_by_name',
    expect.stringContaining('of tags names a row of people that is not there'),
  ]);
});

test.if(process.platform === 'linux')(
  'a database is read a few times, however its indexes are ordered',
  () => {
    const { path, sqlite } = makeTable(60_000);
    sqlite.close();
    const script = join(makeTempDir(), 'read.ts');
    writeFileSync(
      script,
      `import { readFileSync } from 'node:fs';
    import { connect, listDefects } from '${join(import.meta.dir, '../../../src/platform/database/plain-connection.ts')}';
    const bytesRead = () => Number(/rchar: (\\d+)/.exec(readFileSync('/proc/self/io', 'utf8'))[1]);
    const sqlite = connect('${path}', { query_only: true });
    const before = bytesRead();
    console.log(listDefects(sqlite).length, bytesRead() - before);`,
    );
    const { stdout } = Bun.spawnSync([process.execPath, script]);
    const [defects, bytes] = stdout.toString().trim().split(' ').map(Number);
    expect(defects).toBe(0);
    expect(bytes).toBeGreaterThan(0);
    expect(bytes).toBeLessThan(4 * statSync(path).size);
  },
);
