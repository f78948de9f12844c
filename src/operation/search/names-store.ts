/** SQL of the search for what has a name and is few: each is looked at, in the projects that count. */
import { SEARCH_ROWS } from '../../limits.ts';
import { rawAll } from '../../platform/database/raw-sql.ts';
import { searchIn } from './store.ts';

const fitsOneOf = (texts: readonly string[], place: number): string =>
  texts.map((text) => `${text} GLOB +?${place}`).join(' OR ');

/** What has a pattern in one of its texts, the newest first. */
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

interface Listed {
  list_id: string;
  list_name: string;
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

/** What is of no project, newest first. */
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
  tokens: namedHere<{ id: number; name: string }>('access_tokens', 'id, name', ['name']),
};
