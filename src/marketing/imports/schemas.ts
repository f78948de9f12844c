/** The fields of contact imports, what their rows hold, and the shapes of requests and answers about them. */
import {
  MAX_CONTACT_TAGS,
  MAX_CUSTOM_FIELD_NAME_CHARS,
  MAX_CUSTOM_FIELDS,
  MAX_PASTE_CHARS,
} from '../../limits.ts';
import { moment, momentOrNull, type RecordOfFields, recordOf, shown } from '../../platform/http/fields.ts';
import { dateTime, named, nullable, oneOf, t, text, ulid } from '../../platform/http/schema.ts';
import { CONSENT_BASES } from '../lists/service.ts';
import { LEFT_OUT_REASONS, type LeftOutReason, MAPPABLE_FIELDS } from './headers.ts';
import type { StatusColumn } from './statuses.ts';
import { IMPORT_STATUSES } from './tables.ts';

/** Of a question about headers: far more than any file has that people made. */
const MAX_HEADERS = 1_000;
const MAX_HEADER_CHARS = 1_000;

/** What may stand between the cells of a file. */
export const DELIMITERS = [',', ';', '\t', '|'] as const;
export type Delimiter = (typeof DELIMITERS)[number];

/** What an import was asked for; columns are places in a row of the file. */
export interface ImportSettings {
  columns: {
    fields: Partial<Record<string, number>>;
    statuses: { place: number; tells: StatusColumn }[];
    kept: Record<string, number>;
    named: Record<string, string>;
    left_out: { column: number; header: string; reason: LeftOutReason }[];
  };
  defaults: { consent_basis: string | null; source_platform: string; tags: string[] };
  update_existing: boolean;
  /** What stood in columns of a status and of `tracking` without being one, so far. */
  unknown_words: string[];
  /** Between the cells of the file. */
  delimiter: Delimiter;
  /** By an API key: it goes on at the rate that these are given, all others as fast as it can. */
  is_paced: boolean;
  /** By a test key. */
  is_test: boolean;
}

/** Where an import is: it changes with the counters, in one commit. */
export interface ImportPosition {
  /** Counts the commits: a run that saw another number is out of date, and stops. */
  commits: number;
  /** The last row of the file that was taken up, with the header as row 1; of a paste, its last. */
  row: number;
  /** Where the next row begins. */
  byte: number;
  is_file_done: boolean;
  /** Since when rows have waited for the DNS, and how often they were tried again. */
  waiting_since: number | null;
  dns_tries: number;
}

/** Fields of a row that waits: cells of a file under their places, or what was pasted. */
export type WaitingFields =
  | { cells: string[] }
  | { email: string; first_name: string | null; last_name: string | null };

const defaults = t.Optional(
  t.Object(
    {
      consent_basis: t.Optional(oneOf(CONSENT_BASES)),
      source_platform: t.Optional(text({ min: 1, max: 64 })),
      tags: t.Optional(t.Array(t.String(), { maxItems: MAX_CONTACT_TAGS })),
    },
    { description: 'For rows that do not say otherwise.' },
  ),
);
/** Which of the two it is decides what else it must hold. */
export const body = named(
  'NewImport',
  t.Object({
    method: oneOf(['paste', 'csv']),
    text: t.Optional(
      text({
        max: MAX_PASTE_CHARS,
        description:
          'Of a paste: an address a line, with a name or without; or a table, whose first line names its columns as that of a file does.',
      }),
    ),
    object: t.Optional({
      ...ulid(),
      description: 'Of a CSV file: the public_id of a private object of this project.',
    }),
    column_map: t.Optional(
      t.Record(t.String(), t.String(), {
        description: `Column header to field: ${MAPPABLE_FIELDS.join(', ')}; several may be \`status\`. Without it headers are recognised by their names in English, German, French and Spanish.`,
      }),
    ),
    keep_columns: t.Optional(
      t.Array(text({ min: 1, max: MAX_CUSTOM_FIELD_NAME_CHARS }), {
        maxItems: MAX_CUSTOM_FIELDS,
        description: 'Headers of columns that become custom fields. Unless given, all that are no field do.',
      }),
    ),
    delimiter: t.Optional({
      ...oneOf(DELIMITERS),
      description:
        'Between the cells of a CSV file. Found unless given: by its `sep=` line, which is no row, else by its header.',
    }),
    defaults,
    update_existing: t.Optional(
      t.Boolean({ description: 'Default false: a contact that is on the list stays as it is.' }),
    ),
  }),
);

const counter = () => shown(t.Integer());
export const FIELDS = {
  id: shown(ulid()),
  list: shown(ulid()),
  status: shown(oneOf(IMPORT_STATUSES)),
  method: shown(oneOf(['paste', 'csv'])),
  total_rows: shown(
    nullable(t.Integer({ description: 'Null while the rows of a long file are being counted.' })),
  ),
  accepted: counter(),
  duplicate: counter(),
  invalid_syntax: counter(),
  no_mx: counter(),
  suppressed: counter(),
  missing_consent: counter(),
  updated_existing: counter(),
  processed_rows: shown(t.Integer(), 'the sum of the counters'),
  progress_percent: shown(nullable(t.Integer())),
  delimiter: shown(
    nullable({ ...oneOf(DELIMITERS), description: 'Of a CSV file: what stands between its cells.' }),
  ),
  columns: shown(
    nullable(
      t.Object(
        {
          fields: t.Record(t.String(), t.String(), { description: 'Header to field.' }),
          kept: t.Array(t.String(), { description: 'Headers that became custom fields.' }),
          left_out: t.Array(
            t.Object({ column: t.Integer(), header: t.String(), reason: oneOf(LEFT_OUT_REASONS) }),
            { description: 'Those that could not become one, the first 50; columns are counted from 1.' },
          ),
          unknown_words: t.Array(t.String(), {
            description:
              'Words of a status that are no yes and no no, whose rows are `missing_consent`, and of `tracking` that say nothing: up to 20, each cut at 64 characters.',
          }),
        },
        { description: 'What became of the columns; null for a paste without a header.' },
      ),
    ),
  ),
  defaults: shown(
    t.Object(
      { consent_basis: nullable(t.String()), source_platform: t.String(), tags: t.Array(t.String()) },
      { description: 'Of rows that do not say otherwise.' },
    ),
  ),
  update_existing: shown(t.Boolean()),
  rows_per_minute: shown(
    nullable(
      t.Integer({
        description:
          'At which it goes on in the background: that of API keys. Null: as fast as it can beside others.',
      }),
    ),
  ),
  done_at_estimate: shown(
    nullable({
      ...dateTime(),
      description:
        'When the last row is taken up, at its rate or its speed so far; null where that is not known.',
    }),
  ),
  error: shown(nullable(t.String())),
  job_id: shown(nullable(ulid())),
  created_at: moment(),
  started_at: momentOrNull(),
  finished_at: momentOrNull(),
};
export type ImportRecord = RecordOfFields<typeof FIELDS>;
export const record = named('Import', recordOf(FIELDS));

/** Of a file that is about to be imported. */
export const headersBody = named(
  'ImportHeaders',
  t.Object({
    headers: t.Array(text({ max: MAX_HEADER_CHARS }), {
      maxItems: MAX_HEADERS,
      description: 'Of the columns, in their order.',
    }),
  }),
);
export const columnFate = named(
  'ImportColumn',
  t.Object({
    header: t.String(),
    field: nullable(oneOf(MAPPABLE_FIELDS)),
    is_kept: t.Boolean({ description: 'It becomes a custom field under its header.' }),
    left_out: nullable(oneOf(LEFT_OUT_REASONS)),
  }),
);
