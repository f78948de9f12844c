/**
 * Which values a project's file may bring, by column: its type in the schema, and by its name what its text
 * may hold. Whoever made the file knows its passphrase, and may have written anything into it.
 */
import { AppError } from '../../errors.ts';
import { MAX_RENDERED_CHARS } from '../../limits.ts';
import { isUlid } from '../../platform/host/ids.ts';
import { refusalOfTarget } from '../../platform/http/hosts.ts';
import { isPlainObject } from '../../platform/http/schema.ts';
import { ENVIRONMENT, NO_ENVIRONMENT } from '../../platform/http/validation.ts';
import { hasControls } from '../../platform/mail/address.ts';
import { words } from './inventory-tables.ts';
import type { Column, Row, Value } from './rows-store.ts';

/** Texts that are ids as this service makes them, by the name of their column. */
export const IDS: readonly string[] = words(
  'id public_id object_public_id project_public_id email_id import_id suppression_id job_id last_email_id waits_for call_id',
);

const isListOf = (isFit: (entry: unknown) => boolean) => (value: unknown) =>
  Array.isArray(value) && value.every(isFit);
const isObjects = isListOf(isPlainObject);
const isVariants = isListOf((one) => isPlainObject(one) && typeof one.name === 'string');
const isDeparture = (one: unknown) =>
  isPlainObject(one) && typeof one.contact === 'string' && typeof one.status === 'string';
const isSignUp = (value: unknown) =>
  isPlainObject(value) &&
  Number.isSafeInteger(value.at) &&
  ['ip', 'origin', 'first_name', 'last_name'].every(
    (name) => value[name] === null || typeof value[name] === 'string',
  );
const isPlan = (value: unknown) =>
  isPlainObject(value) && isVariants(value.variants) && typeof value.share === 'number';

/** Texts that hold JSON, and what JSON. Code relies on that, and may be at work for all projects. */
export const JSON_TEXTS: readonly { is: string; names: readonly string[]; fits(value: unknown): boolean }[] =
  [
    {
      is: 'a list of texts',
      names: words(`
      accounts allowed_mailboxes bcc cc enroll_tags exit_events platforms sending_domains sha1_fingerprints sha256_fingerprints taken
      tech_stack token_hosts types`),
      fits: isListOf((entry) => typeof entry === 'string'),
    },
    {
      is: 'a list of names of environments',
      names: words('environments'),
      fits: isListOf((entry) => typeof entry === 'string' && ENVIRONMENT.test(entry)),
    },
    { is: 'the plan of an A/B', names: words('ab'), fits: isPlan },
    { is: 'a list of objects', names: words('attachments recipients refused steps'), fits: isObjects },
    { is: 'a sign-up', names: words('comes_back'), fits: isSignUp },
    { is: 'a list of departures', names: words('departures'), fits: isListOf(isDeparture) },
    {
      is: 'an object',
      names: words(`
      changes content custom draft envelope extra fields filter headers merge meta metadata parties payload permissions position result settings utm`),
      fits: isPlainObject,
    },
    {
      is: 'an object or a list of objects',
      names: words('variables'),
      fits: (value) => isPlainObject(value) || isObjects(value),
    },
  ];

/**
 * Texts of any length and characters, as people, programs or relays wrote them: the API, a file, a header of
 * a request or a reader of mail let them through. All others are one line.
 */
export const FREE_TEXTS: readonly string[] = words(`
  actor_name app_id app_identifier body body_html body_markdown body_text brand_logo_url brand_name brand_website_url category choice
  consent_ip consent_origin created_by_name cron_expression description disabled_reason error event filename first_name from_name
  idempotency_key last_name link_domain_problem message_id name note notes origin postal_address preheader primary_url reason repo_url sealed
  smtp_response source step subject summary tag target text title track tracking_ip tracking_origin url user_agent words`);
/** Such texts whose names mean one line elsewhere: a cell of a file that is no address, a template that is yet to be written. */
const FREE_COLUMNS: readonly string[] = words(
  'broadcasts.template contact_import_rejections.email tracking_choices.ip',
);

/** Where pages of ours lead. */
const TARGETS: readonly string[] = words('signed_up_url confirmed_url');

/** Names of services and fields of a vault: they stand in files that shells read, and in what doctor says to run. */
const OF_VAULT = /^vault_\w+\.(?:service|field)$/;
const NAME_OF_VAULT = /^[A-Za-z_]\w{0,127}$/;

/** More than the longest of what is one line: an URL, an address with its name, a sealed key. */
const MAX_LINE_CHARS = 8_192;

/** Says what a value that is not null must be, or null where it is that. */
type Rule = (value: NonNullable<Value>) => string | null;

const isNumber = (value: Value): value is number => typeof value === 'number' && value >= 0;

const text =
  (max: number, wrong: (value: string) => string | null): Rule =>
  (value) => {
    if (typeof value !== 'string') return 'must be a text';
    return value.length > max ? `must have at most ${max} characters` : wrong(value);
  };

const RULES = {
  INTEGER: (value) =>
    isNumber(value) && Number.isSafeInteger(value) ? null : 'must be a whole number, and not negative',
  /** People say when something was, which may be before 1970. */
  moment: (value) => (Number.isSafeInteger(value) ? null : 'must be a whole number'),
  REAL: (value) => (isNumber(value) ? null : 'must be a number, and not negative'),
  BLOB: (value) => (value instanceof Uint8Array ? null : 'must be bytes'),
  id: text(MAX_LINE_CHARS, (value) => (isUlid(value) ? null : 'must be an id')),
  free: text(MAX_RENDERED_CHARS, () => null),
  environment: text(MAX_LINE_CHARS, (value) => (ENVIRONMENT.test(value) ? null : NO_ENVIRONMENT)),
  of_vault: text(MAX_LINE_CHARS, (value) =>
    NAME_OF_VAULT.test(value)
      ? null
      : 'must be a name such as API_KEY: a letter or _, then letters, digits and _',
  ),
  target: text(MAX_LINE_CHARS, refusalOfTarget),
  line: text(MAX_LINE_CHARS, (value) =>
    hasControls(value) ? 'must have no line breaks or other control characters' : null,
  ),
} satisfies Record<string, Rule>;

function ruleOf(table: string, { name, type }: Column): Rule {
  if (type === 'INTEGER' && /(?:^|_)at$/.test(name)) return RULES.moment;
  if (type === 'INTEGER' || type === 'REAL' || type === 'BLOB') return RULES[type];
  if (IDS.includes(name)) return RULES.id;
  if (TARGETS.includes(name)) return RULES.target;
  const column = `${table}.${name}`;
  if (name === 'environment' || column === 'vault_environments.name') return RULES.environment;
  if (OF_VAULT.test(column)) return RULES.of_vault;
  const json = JSON_TEXTS.find(({ names }) => names.includes(name));
  if (json)
    return text(MAX_RENDERED_CHARS, (value) =>
      json.fits(parsed(value)) ? null : `must be JSON, ${json.is}`,
    );
  return FREE_TEXTS.includes(name) || FREE_COLUMNS.includes(column) ? RULES.free : RULES.line;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Throws AppError `invalid` with table and field where a column does not take a row's value. */
export function checkRow(table: string, columns: readonly Column[], row: Row): void {
  for (const column of columns) {
    const value = row[column.name] ?? null;
    const wrong = value === null ? column.is_required && 'must not be null' : ruleOf(table, column)(value);
    if (wrong)
      throw new AppError('invalid', `A row of ${table} in the file is refused: its ${column.name} ${wrong}.`);
  }
}

/** True when a row has these columns, and no others. */
export function fitsTable(columns: readonly Column[], row: Row): boolean {
  const names = columns.map(({ name }) => name);
  return names.sort().join() === Object.keys(row).sort().join();
}
