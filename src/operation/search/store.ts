/**
 * SQL of the search, in tables of all nouns. Projects, keys and what else has a name are few, and looked at
 * one by one. All else is found by a range of an index, so that a search costs the same for a million rows;
 * INDEXED BY has SQLite refuse any other way.
 */
import type { SQLQueryBindings } from 'bun:sqlite';
import { SEARCH_ROWS } from '../../limits.ts';
import type { Tx } from '../../platform/database/database.ts';
import { rawAll } from '../../platform/database/raw-sql.ts';
import { soughtName } from '../../platform/words/phrases.ts';

/** The project that a row is of. */
interface InProject {
  project_public_id: string;
  project_name: string;
  project_slug: string;
}

const OF_PROJECT = 'p.public_id AS project_public_id, p.name AS project_name, p.slug AS project_slug';
/** `?1` is a JSON array of the ids of the projects that count, or null for all. */
const IN_SCOPE = "p.status <> 'arriving' AND (?1 IS NULL OR p.id IN (SELECT value FROM json_each(?1)))";

/** Looks through one project after another, the newest first, in the order of the index named by `order`. */
function searchIn<Row extends object, Params extends SQLQueryBindings[]>(of: {
  columns: string;
  from: string;
  where: string;
  order: string;
}) {
  const find = rawAll<Row & InProject, [scope: string | null, ...Params]>(
    `SELECT ${of.columns}, ${OF_PROJECT} FROM projects p CROSS JOIN ${of.from}
     WHERE ${IN_SCOPE} AND ${of.where} ORDER BY p.id DESC, ${of.order} LIMIT ${SEARCH_ROWS}`,
  );
  return (read: Tx, scope: string | null, ...params: Params) =>
    find(read, scope, ...params).map(({ project_public_id, project_name, project_slug, ...row }) => ({
      ...row,
      project: { public_id: project_public_id, name: project_name, slug: project_slug },
    }));
}

/** A GLOB pattern for texts that have this in them, in any case of any script. */
export function anywhere(q: string): string {
  const characters = [...q].map((one) => {
    const cases = [...new Set([one, one.toLowerCase(), one.toUpperCase()])];
    // Some have two in another case: the upper case of ß.
    const forms = cases.filter((form) => [...form].length === 1);
    return forms.length > 1 || '*?['.includes(one) ? `[${forms.join('')}]` : one;
  });
  return `*${characters.join('')}*`;
}

interface ProjectRow {
  id: number;
  public_id: string;
  name: string;
  slug: string;
  status: string;
}

const projects = rawAll<ProjectRow, [scope: string | null, pattern: string]>(
  `SELECT id, public_id, name, slug, status FROM projects p
   WHERE ${IN_SCOPE} AND (name GLOB +?2 OR slug GLOB +?2) ORDER BY id DESC LIMIT ${SEARCH_ROWS}`,
);

export function searchProjects(read: Tx, scope: string | null, q: string): ProjectRow[] {
  return projects(read, scope, anywhere(q));
}

interface KeyRow {
  id: number;
  name: string;
  key_prefix: string;
  is_active: number;
}

const keys = searchIn<KeyRow, [string, string]>({
  columns: 'k.id, k.name, k.key_prefix, k.is_active',
  from: 'api_keys k ON k.project_id = p.id',
  // Of a whole key its beginning counts.
  where: '(k.name GLOB +?2 OR instr(k.key_prefix, substr(+?3, 1, length(k.key_prefix))) = 1)',
  order: 'k.id DESC',
});

export function searchKeys(read: Tx, scope: string | null, q: string) {
  return keys(read, scope, anywhere(q), q);
}

interface ObjectRow {
  public_id: string;
  original_filename: string;
  mime_type: string;
  size_bytes: number;
  visibility: string;
  created_at: number;
}

const objects = searchIn<ObjectRow, [string, string, number]>({
  columns: 'o.public_id, o.original_filename, o.mime_type, o.size_bytes, o.visibility, o.created_at',
  from: 'objects o INDEXED BY objects_by_name ON o.project_id = p.id',
  where: `o.visibility <> 'internal' AND o.sought_name >= +?2 AND o.sought_name < +?3
    AND (o.expires_at IS NULL OR o.expires_at > +?4)`,
  order: 'o.sought_name',
});

export function searchObjects(read: Tx, scope: string | null, q: string, now_ms: number) {
  const name = soughtName(q);
  return objects(read, scope, name, afterPrefix(name), now_ms);
}

interface EmailRow {
  id: string;
  to: string;
  subject: string;
  status: string;
  created_at: number;
}

const EMAIL = 'e.id, e.to_email AS "to", e.subject, e.status, e.created_at';
const emailById = searchIn<EmailRow, [string]>({
  columns: EMAIL,
  from: 'emails e',
  where: 'e.id = +?2 AND p.id = e.project_id',
  order: 'e.id',
});
const emailsTo = searchIn<EmailRow, [string]>({
  columns: EMAIL,
  from: 'emails e INDEXED BY emails_by_recipient ON e.project_id = p.id',
  where: 'e.to_email COLLATE NOCASE = +?2',
  order: 'e.id DESC',
});
const emailsToPrefix = searchIn<EmailRow, [string, string]>({
  columns: EMAIL,
  from: 'emails e INDEXED BY emails_by_recipient ON e.project_id = p.id',
  where: 'e.to_email COLLATE NOCASE >= +?2 AND e.to_email COLLATE NOCASE < +?3',
  order: 'e.to_email COLLATE NOCASE',
});

/** The newest to that very address come before those to addresses that begin so. */
export function searchEmails(read: Tx, scope: string | null, q: string) {
  const exact = [...emailById(read, scope, q.toUpperCase()), ...emailsTo(read, scope, q)];
  if (exact.length >= SEARCH_ROWS) return exact.slice(0, SEARCH_ROWS);
  const known = new Set(exact.map(({ id }) => id));
  const begun = emailsToPrefix(read, scope, q, afterPrefix(q)).filter(({ id }) => !known.has(id));
  return [...exact, ...begun].slice(0, SEARCH_ROWS);
}

/** Of which list. */
export interface Listed {
  list_id: string;
  list_name: string;
}

interface ContactRow extends Listed {
  id: string;
  email: string;
  first_name: string | null;
  last_name: string | null;
  status: string;
}

const contacts = searchIn<ContactRow, [string, string]>({
  columns:
    'c.public_id AS id, c.email, c.first_name, c.last_name, c.status, l.public_id AS list_id, l.name AS list_name',
  from: `contacts c INDEXED BY contacts_by_address ON c.project_id = p.id
    CROSS JOIN contact_lists l ON l.id = c.list_id`,
  where: 'c.email >= +?2 AND c.email < +?3',
  order: 'c.email',
});

export function searchContacts(read: Tx, scope: string | null, q: string) {
  const email = q.toLowerCase();
  return contacts(read, scope, email, afterPrefix(email));
}

/** The first text that no longer begins with `prefix`. */
function afterPrefix(prefix: string): string {
  return `${prefix}\u{10ffff}`;
}

/* --- What has a name and is few: each is looked at, in the projects that count ------------------------------------ */

const fitsOneOf = (texts: readonly string[], place: number): string =>
  texts.map((text) => `${text} GLOB +?${place}`).join(' OR ');

/** Finds rows that have a pattern in one of their texts, the newest first. */
function namedIn<Row extends object>(of: {
  columns: string;
  /** It begins with the table and what it is called here. */
  from: string;
  texts: readonly string[];
  also?: string;
}) {
  const [, called] = of.from.split(' ');
  return searchIn<Row, [pattern: string]>({
    columns: of.columns,
    from: of.from,
    order: `${called}.id DESC`,
    where: `${of.also ?? 'TRUE'} AND (${fitsOneOf(of.texts, 2)})`,
  });
}

/** By the name of each in the answer. */
export const named = {
  lists: namedIn<{ id: string; name: string; archived: number }>({
    columns: 'l.public_id AS id, l.name, l.archived_at IS NOT NULL AS archived',
    from: 'contact_lists l ON l.project_id = p.id',
    texts: ['l.name'],
  }),
  segments: namedIn<{ id: string; name: string } & Listed>({
    columns: 's.public_id AS id, s.name, l.public_id AS list_id, l.name AS list_name',
    from: 'segments s ON s.project_id = p.id CROSS JOIN contact_lists l ON l.id = s.list_id',
    texts: ['s.name', 'l.name'],
  }),
  templates: namedIn<{ slug: string; name: string; subject: string }>({
    columns: 't.slug, t.name, t.subject',
    from: 'email_templates t ON t.project_id = p.id',
    also: 't.is_own = 0',
    texts: ['t.slug', 't.name', 't.subject'],
  }),
  sequences: namedIn<{ id: string; name: string; status: string }>({
    columns: 's.public_id AS id, s.name, s.status',
    from: 'sequences s ON s.project_id = p.id',
    texts: ['s.name', 's.status'],
  }),
  broadcasts: namedIn<{ id: string; name: string; subject: string | null; status: string }>({
    columns: 'b.public_id AS id, b.name, t.subject, b.status',
    from: `broadcasts b ON b.project_id = p.id
      LEFT JOIN email_templates t ON t.project_id = b.project_id AND t.slug = b.template`,
    texts: ['b.name', 't.subject', 'b.status'],
  }),
  schedules: namedIn<{ id: string; name: string; is_active: number }>({
    columns: 's.id, s.name, s.is_active',
    from: 'email_schedules s ON s.project_id = p.id',
    texts: ['s.name'],
  }),
  webhooks: namedIn<{ id: string; url: string; description: string | null }>({
    columns: 'w.public_id AS id, w.url, w.description',
    from: 'webhooks w ON w.project_id = p.id',
    texts: ['w.url', 'w.description'],
  }),
};

/** The same, of no project. */
function namedHere<Row extends object>(table: string, columns: string, texts: readonly string[]) {
  return rawAll<Row, [pattern: string]>(
    `SELECT ${columns} FROM ${table} WHERE ${fitsOneOf(texts, 1)} ORDER BY id DESC LIMIT ${SEARCH_ROWS}`,
  );
}

export const namedOfSatchel = {
  sending_domains: namedHere<{ name: string }>('sending_domains', 'name', ['name']),
  mailboxes: namedHere<{ address: string }>('mailboxes', 'address', ['address']),
  people: namedHere<{ id: number; email: string; name: string | null }>('people', 'id, email, name', [
    'email',
    'name',
  ]),
  tokens: namedHere<{ id: number; name: string }>(
    '(SELECT * FROM access_tokens WHERE trust_id IS NULL)',
    'id, name',
    ['name'],
  ),
};
