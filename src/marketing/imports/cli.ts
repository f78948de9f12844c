/** `satchel import`: contacts from a CSV file of this machine. */

import { basename } from 'node:path';
import { Option } from 'commander';
import { AppError, messageOf } from '../../errors.ts';
import type { Objects } from '../../files/objects/service.ts';
import { MAX_CUSTOM_FIELD_NAME_CHARS, MAX_CUSTOM_FIELDS } from '../../limits.ts';
import {
  type Cli,
  type CliContext,
  type CliResult,
  type CliSession,
  UsageError,
} from '../../platform/cli/cli.ts';
import { streamNamedFile } from '../../platform/cli/input.ts';
import { listOption, textOptions } from '../../platform/cli/options.ts';
import { formatFields } from '../../platform/cli/tables.ts';
import type { Note } from '../../platform/database/audit-trail.ts';
import type { BlobStore } from '../../platform/files/store.ts';
import { isServed } from '../../platform/host/directory-lock.ts';
import { newId } from '../../platform/host/ids.ts';
import { oneOf, parse, t } from '../../platform/http/schema.ts';
import type { MarketingServices } from '../cli-services.ts';
import { CONSENT_BASES } from '../lists/service.ts';
import type { LeftOutReason } from './headers.ts';
import { COUNTERS } from './records.ts';
import { DELIMITERS, type ImportRecord } from './service.ts';

/** A file that was imported from the shell is kept this long, for a resume. */
const IMPORTED_FILE_DAYS = 30;

/** How often `import show --watch` looks: often enough for a bar that moves. */
const IMPORT_WATCH_MS = 500;

type Services = MarketingServices & { objects: Objects; blobs: BlobStore };

/** Registers `satchel import start | show | resume | cancel`. */
export function registerImportCommands(cli: Cli<Services>): void {
  const noun = cli.noun('import');
  noun
    .verb('start <list> <file>', 'import a CSV file; a long one goes on in the server')
    .named(({ list_names }) => list_names)
    .addOption(
      new Option('--delimiter <delimiter>', 'between cells; found unless given').choices(DELIMITER_WORDS),
    )
    .option('--map <pairs>', 'column to field, such as "E-Mail=email,Vorname=first_name"')
    .option('--keep <columns>', 'columns that become custom fields, in place of all that are no field')
    .addOption(new Option('--basis <basis>', 'consent of rows that name none').choices(CONSENT_BASES))
    .option('--tags <tags>', 'tags of every row')
    .option('--update', 'change contacts that are on the list already')
    .example('satchel import start 01J00000000000000000000000 people.csv --map "Mail=email" --basis consent')
    .does(async (session, options, list_id, file) => {
      const { services, project, trail: note } = session;
      const list = services.lists.requireAny(list_id);
      const { basis } = parse(
        t.Object({ basis: t.Optional(oneOf(CONSENT_BASES)) }),
        textOptions(options, 'basis'),
      );
      const column_map = readMap(listOption(options, 'map'));
      const wanted = {
        object: await store(services, project, file, note),
        column_map,
        keep_columns: options.keep === undefined ? null : listOption(options, 'keep'),
        defaults: { consent_basis: basis, tags: listOption(options, 'tags') },
        update_existing: options.update === true,
        delimiter: DELIMITERS.find(
          (each) => each === (options.delimiter === 'tab' ? '\t' : options.delimiter),
        ),
      };
      const by = { is_paced: false, is_test: false, note };
      const { record } = await services.imports.csv(project, list, wanted, by);
      return presentBriefly(session, record);
    });
  noun
    .verb('show <id>', 'how an import stands')
    .option('--watch', 'wait for its end, and show how far it is')
    .example('satchel import show 01J00000000000000000000000 --watch')
    .does(async (session, options, id) =>
      present(session, options.watch === true ? await watch(session, id) : session.services.imports.show(id)),
    );
  noun
    .verb('resume <id>', 'go on with a failed import')
    .example('satchel import resume 01J00000000000000000000000')
    .finds(({ imports }, id) => imports.requireAny(id))
    .does(async (session, _options, id) => {
      const { services, project, trail } = session;
      return presentBriefly(session, await services.imports.resume(project.id, id, trail));
    });
  noun
    .verb('cancel <id>', 'end an import for good')
    .example('satchel import cancel 01J00000000000000000000000 --yes')
    .finds(({ imports }, id) => imports.requireAny(id))
    .removes(async (session, _options, id) => {
      const { services, project, trail, consent } = session;
      const { processed_rows, total_rows } = services.imports.show(id);
      consent(
        `ends the import for good: ${processed_rows} of ${total_rows ?? 'its'} rows are done, and stay`,
      );
      return presentBriefly(session, await services.imports.cancel(project.id, id, trail));
    });
}

/** A tab is hard to type. */
const DELIMITER_WORDS = DELIMITERS.map((each) => (each === '\t' ? 'tab' : each));

/** `Header=field` pairs; null where none is given. */
function readMap(pairs: readonly string[]): Record<string, string> | null {
  const entries = pairs.map((pair) => {
    const at = pair.lastIndexOf('=');
    if (at < 1) throw new UsageError(`--map takes pairs such as "E-Mail=email", with a comma between them`);
    return [pair.slice(0, at), pair.slice(at + 1)] as const;
  });
  return entries.length === 0 ? null : Object.fromEntries(entries);
}

/** Keeps the file as a private object, as long as an import may need it; returns its id. */
async function store(
  services: Services,
  project: { id: number; public_id: string },
  file: string,
  note: Note,
): Promise<string> {
  const upload = services.blobs.openUpload(newId(services.clock.now()));
  try {
    for await (const chunk of streamNamedFile(file)) await upload.write(chunk);
  } catch (error) {
    await upload.abort();
    if (error instanceof AppError) throw error;
    throw new AppError('invalid', `The file cannot be read: ${messageOf(error)}`);
  }
  const fields = { visibility: 'private', expires_in_days: String(IMPORTED_FILE_DAYS) };
  const wanted = { fields, filename: basename(file), mime_type: 'text/csv', upload, store: 'local' as const };
  return (await services.objects.create(project, wanted, () => {}, note)).public_id;
}

async function watch<S extends Services>(
  { services, progress }: CliSession<S>,
  id: string,
): Promise<ImportRecord> {
  const onProgress = progress('importing');
  for (;;) {
    const record = services.imports.show(id);
    if (!isUnderWay(record)) return record;
    if (record.total_rows !== null) onProgress(record.processed_rows, record.total_rows);
    await Bun.sleep(IMPORT_WATCH_MS);
  }
}

function isUnderWay({ status }: ImportRecord): boolean {
  return status === 'pending' || status === 'processing';
}

function present({ config }: CliContext, record: ImportRecord, fields: object = record): CliResult {
  const by = isServed(config.data_dir)
    ? 'The running server goes on with it.'
    : `No server serves ${config.data_dir}: it goes on once satchel serve does.`;
  const next = !isUnderWay(record) ? '' : `\n${by} To watch: satchel import show ${record.id} --watch`;
  return { json: record, text: `${formatFields(fields)}${next}` };
}

function presentBriefly(context: CliContext, record: ImportRecord): CliResult {
  const { id, status, processed_rows, total_rows } = record;
  const ends = COUNTERS.filter((end) => record[end] > 0);
  return present(context, record, {
    import: id,
    status,
    rows: `${processed_rows} of ${total_rows ?? 'not yet counted'}`,
    ...Object.fromEntries(ends.length > 0 ? [['of which', ends.map((end) => `${record[end]} ${end}`)]] : []),
    ...columnsTold(record),
    ...(record.error === null ? {} : { error: record.error }),
  });
}

/** Tells what became of the columns, lost ones too. */
function columnsTold({ columns }: ImportRecord): Record<string, string> {
  if (columns === null) return {};
  const fields = Object.entries(columns.fields).map(([header, field]) => `${header} is ${field}`);
  const left_out = columns.left_out.flatMap(({ column, header, reason }) =>
    reason === 'ours' ? [] : [`column ${column} ${header && `(${header}) `}${LEFT_OUT_WORDS[reason]}`],
  );
  const ours = columns.left_out.filter(({ reason }) => reason === 'ours').map(({ header }) => header);
  return {
    columns: fields.join(', '),
    ...(columns.kept.length > 0 ? { 'custom fields': columns.kept.join(', ') } : {}),
    ...(left_out.length > 0 ? { 'left out': left_out.join(', ') } : {}),
    ...(ours.length > 0 ? { 'left out as ours': ours.join(', ') } : {}),
    ...(columns.unknown_words.length > 0 ? { 'unknown words': columns.unknown_words.join(', ') } : {}),
  };
}

const LEFT_OUT_WORDS: Readonly<Record<Exclude<LeftOutReason, 'ours'>, string>> = {
  no_name: 'has no name',
  name_too_long: `has a name of more than ${MAX_CUSTOM_FIELD_NAME_CHARS} characters`,
  repeated: 'has the name of another',
  too_many: `is past the ${MAX_CUSTOM_FIELDS} custom fields that there may be`,
};
