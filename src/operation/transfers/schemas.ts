/** Shapes of moving projects: what is answered over HTTP is what the services return. */
import { dateTime, named, nullable, oneOf, type Static, t, ulid } from '../../platform/http/schema.ts';

const of_project = { public_id: t.String(), name: t.String(), slug: t.String() };
const file_fields = {
  id: ulid(),
  size_bytes: t.Integer(),
  created_at: dateTime(),
  expires_at: dateTime(),
  project: t.Object(of_project),
};
/** A file that is kept here on its way. */
export const project_file = named('ProjectFile', t.Object(file_fields));
export type FileRecord = Static<typeof project_file>;

export const exported = named(
  'ExportedProject',
  t.Object({
    ...file_fields,
    rows: t.Integer(),
    objects: t.Integer({ description: 'Files whose bytes are in it.' }),
    object_bytes: t.Integer(),
    stored_objects: t.Integer({ description: 'Files whose bytes are in the object store, and not in it.' }),
    left_out: t.Array(t.String(), {
      description: 'Objects that were deleted meanwhile, or whose bytes were gone or damaged already.',
    }),
  }),
);
/** Counts of what an export wrote. */
export type Written = Omit<Static<typeof exported>, Exclude<keyof FileRecord, 'size_bytes'>>;

const names = () => t.Array(t.String());
const what_comes = {
  rows: t.Integer(),
  objects: t.Integer(),
  tokens: t.Integer(),
  missing: t.Object(
    {
      people: names(),
      domains: names(),
      mailboxes: names(),
      // One that is another project's here, or this Satchel's own.
      link_domains: names(),
      ai_accounts: names(),
      database_projects: names(),
    },
    { description: 'What it refers to and is not here: listed, never made.' },
  ),
};
/** A project before it is imported. */
export const coming = named('ComingProject', t.Object({ ...of_project, ...what_comes }));
export type Coming = Static<typeof coming>;

/** A project that was imported. */
export const imported = named('ImportedProject', t.Object({ id: t.Integer(), ...of_project, ...what_comes }));
export type Imported = Static<typeof imported>;
export type Missing = Imported['missing'];

/** Counts of what went on again, and what did not. */
export const let_go = named(
  'ProjectLetGo',
  t.Object({
    schedules: t.Integer(),
    sequences: t.Integer(),
    broadcasts: t.Integer(),
    jobs: t.Integer({ description: 'Mail and other work that waited.' }),
    stayed: t.Array(t.Object({ kind: t.String(), id: t.String(), reason: t.String() })),
  }),
);
export type LetGo = Static<typeof let_go>;

/** How far what is being done has come. */
export const under_way = named(
  'ProjectMove',
  t.Object({ work: nullable(oneOf(['export', 'check', 'import'])), percent: nullable(t.Integer()) }),
);
export type UnderWay = Static<typeof under_way>;
