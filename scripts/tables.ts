/**
 * Writes each noun's tables.ts off 0001_schema.sql; with --check it says which are not as they would be written. The schema says of a column what SQLite's types do not: a boolean is
 * CHECK (x IN (0, 1)), a set of words is another CHECK IN. Its comment begins with the type: the name of such a set, or `JSON` and what
 * is in it, where a name is of the noun's schemas.ts; or it is the words that code meets, where those are fewer. The comment of a table begins with the name of its row.
 */
import { join } from 'node:path';

const SRC = join(import.meta.dir, '../src');
const SCHEMA = join(SRC, 'platform/database/migrations/0001_schema.sql');

interface Column {
  name: string;
  /** In SQLite's words. */
  definition: string;
  comment: string;
}

interface Table {
  name: string;
  row: string | null;
  columns: Column[];
  /** Of the folder whose tables.ts it is in. */
  place: string;
}

/** `mail: sending domains` stands in mail/sending-domains, `webhooks` in webhooks. */
function placeOf(section: string): string {
  if (section === 'platform') return 'platform/database';
  return section.trim().replace(': ', '/').replaceAll(' ', '-');
}

export function readTables(sql: string): Table[] {
  const tables: Table[] = [];
  let place = '';
  let table: Table | null = null;
  let open: Column | null = null;
  for (const line of sql.split('\n')) {
    const [code = '', comment = ''] = line.split(/\s*-- (?!-)/, 2);
    const section = /^-- --- (.*?) -+$/.exec(line)?.[1];
    const begin = /^CREATE TABLE (\w+) \($/.exec(code)?.[1];
    if (section) place = placeOf(section);
    if (begin) {
      table = { name: begin, row: comment || null, columns: [], place };
      tables.push(table);
    } else if (code.startsWith(')')) table = null;
    else if (table && open) open = add(open, code, comment);
    else if (table && /^ {2}[a-z]/.test(code)) {
      const name = /\w+/.exec(code)?.[0] ?? '';
      const column: Column = { name, definition: '', comment: '' };
      table.columns.push(column);
      open = add(column, code.trim().slice(name.length), comment);
    }
  }
  return tables;
}

/** The column where it goes on in the next line, else null. */
function add(column: Column, code: string, comment: string): Column | null {
  column.definition += ` ${code.trim()}`;
  column.comment = `${column.comment} ${comment}`.trim();
  const depth = column.definition.split('(').length - column.definition.split(')').length;
  return depth > 0 ? column : null;
}

/** `CHECK (status IN ('a', 'b'))`: the words, each in quotes. */
function wordsOf({ name, definition }: Column): string[] {
  const list = new RegExp(`CHECK \\(${name} IN \\(([^)]*)\\)`).exec(definition)?.[1] ?? '';
  return list.match(/'[^']*'/g) ?? [];
}

/** The name of a column's set of words, where it has one: `JobStatus`. */
function setOf(column: Column): string | null {
  return wordsOf(column).length > 0 ? (/^[A-Z]\w+/.exec(column.comment)?.[0] ?? null) : null;
}

/** What its code may meet of it, where that is less than what it may hold. */
const castOf = ({ comment }: Column): string | null => /^'\w+'(?: \| '\w+')+(?=;)/.exec(comment)?.[0] ?? null;

const jsonOf = ({ comment }: Column): string | null => /^JSON ([^;]+)/.exec(comment)?.[1] ?? null;

/** `JOB_STATUSES` of `JobStatus`. */
function constantOf(name: string): string {
  const [, stem = name, ending = ''] = /^(.*?)(is|y|s|)$/.exec(name) ?? [];
  const plural = stem + ({ is: 'es', y: 'ies', s: 'ses' }[ending] ?? 's');
  return plural.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase();
}

const camel = (name: string): string =>
  name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

function builderOf(column: Column): string {
  const { name, definition } = column;
  const words = wordsOf(column);
  const json = jsonOf(column);
  const type = json ?? castOf(column) ?? (words.length > 0 ? (setOf(column) ?? words.join(' | ')) : null);
  const mode = json
    ? "{ mode: 'json' }"
    : definition.includes(`CHECK (${name} IN (0, 1))`)
      ? "{ mode: 'boolean' }"
      : '';
  const base = definition.trim().split(/[ ,]/)[0]?.toLowerCase() ?? '';
  const builder = base === 'blob' ? "blob({ mode: 'buffer' })" : `${base}(${mode})`;
  const key = definition.includes('AUTOINCREMENT')
    ? '.primaryKey({ autoIncrement: true })'
    : definition.includes('PRIMARY KEY')
      ? '.primaryKey()'
      : '';
  return `${name}: ${builder}${type ? `.$type<${type}>()` : ''}${key}${definition.includes('NOT NULL') ? '.notNull()' : ''},`;
}

export function print(tables: readonly Table[]): string {
  const columns = tables.flatMap((table) => table.columns);
  const sets = new Map(columns.flatMap((column) => [[setOf(column), wordsOf(column)] as const]));
  const consts = [...sets].flatMap(([name, words]) =>
    name === null
      ? []
      : [
          `export const ${constantOf(name)} = [${words.join(', ')}] as const;`,
          `export type ${name} = (typeof ${constantOf(name)})[number];`,
        ],
  );
  const body = tables.map(
    ({ name, row, columns }) =>
      `export const ${camel(name)} = sqliteTable('${name}', {\n${columns.map(builderOf).join('\n')}\n});\n` +
      (row === null ? '' : `export type ${row} = typeof ${camel(name)}.$inferSelect;\n`),
  );
  const json = columns.flatMap((column) => jsonOf(column)?.match(/\b[A-Z]\w+/g) ?? []);
  const shapes = [...new Set(json)].filter((name) => name !== 'Record' && !sets.has(name)).sort();
  const builders = ['blob', 'integer', 'real', 'sqliteTable', 'text'].filter((name) =>
    body.join('').includes(`${name}(`),
  );
  return [
    '/** Made from 0001_schema.sql by scripts/tables.ts: change it there. */',
    `import { ${builders.join(', ')} } from 'drizzle-orm/sqlite-core';`,
    ...(shapes.length > 0 ? [`import type { ${shapes.join(', ')} } from './schemas.ts';`] : []),
    '',
    ...consts,
    '',
    ...body,
  ].join('\n');
}

/** As Biome formats it. */
async function formatted(text: string): Promise<string> {
  const biome = Bun.spawn(
    [process.execPath, 'x', '--bun', 'biome', 'format', '--stdin-file-path=tables.ts'],
    {
      stdin: new Blob([text]),
    },
  );
  return await new Response(biome.stdout).text();
}

if (import.meta.main) {
  const is_check = process.argv.includes('--check');
  const tables = readTables(await Bun.file(SCHEMA).text());
  const places = Object.entries(Object.groupBy(tables, ({ place }) => place));
  await Promise.all(
    places.map(async ([place, of = []]) => {
      const path = join(SRC, place, 'tables.ts');
      const text = await formatted(print(of));
      const file = Bun.file(path);
      if ((await file.exists()) && (await file.text()) === text) return;
      if (!is_check) await Bun.write(path, text);
      else {
        process.stderr.write(`${path} is not as 0001_schema.sql has it: bun scripts/tables.ts\n`);
        process.exitCode = 1;
      }
    }),
  );
}
