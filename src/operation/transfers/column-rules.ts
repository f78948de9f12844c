/**
 * What a value of a project's file may be, by the column that it is for: its type as the schema has it, and what its text may
 * hold by the column's name. Whoever made the file knows its passphrase, and may have written into it what they like.
 */
import { AppError } from '../../errors.ts';
import { MAX_RENDERED_CHARS } from '../../limits.ts';
import type { Tx } from '../../platform/database/database.ts';
import { isUlid } from '../../platform/host/ids.ts';
import { hasControls } from '../../platform/mail/header-text.ts';
import { type Column, listColumns, type Row, type Value } from './store.ts';

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** Texts that are ids as this service makes them, by the name of their column. */
export const IDS = words(
  'id public_id object_public_id project_public_id email_id import_id job_id last_email_id waits_for',
);

export const JSON_TEXTS = words(`
  accounts allowed_mailboxes attachments bcc cc changes content custom enroll_tags envelope exit_events fields filter headers merge meta
  metadata payload permissions platforms position recipients refused result settings sha1_fingerprints sending_domains sha256_fingerprints steps
  taken tech_stack token_hosts types variables`);

/** Texts of any length and with whatever characters, as somebody wrote them or a relay said them. All others are one line. */
export const FREE_TEXTS = words(`
  actor_name app_identifier body body_html body_markdown body_text brand_logo_url brand_name brand_website_url category choice
  consent_origin created_by_name cron_expression description disabled_reason error event filename first_name from_name last_name
  name notes postal_address primary_url reason repo_url sealed smtp_response source step subject tag target track url words`);

/** More than the longest of what is one line: an URL, an address with its name, a sealed key. */
const MAX_LINE_CHARS = 8_192;

/** What a value that is not null must be, or null where it is that. */
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
  REAL: (value) => (isNumber(value) ? null : 'must be a number, and not negative'),
  BLOB: (value) => (value instanceof Uint8Array ? null : 'must be bytes'),
  id: text(MAX_LINE_CHARS, (value) => (isUlid(value) ? null : 'must be an id')),
  json: text(MAX_RENDERED_CHARS, (value) => (isJson(value) ? null : 'must be JSON')),
  free: text(MAX_RENDERED_CHARS, () => null),
  line: text(MAX_LINE_CHARS, (value) =>
    hasControls(value) ? 'must have no line breaks or other control characters' : null,
  ),
} satisfies Record<string, Rule>;

function ruleOf({ name, type }: Column): Rule {
  if (type === 'INTEGER' || type === 'REAL' || type === 'BLOB') return RULES[type];
  if (IDS.has(name)) return RULES.id;
  if (JSON_TEXTS.has(name)) return RULES.json;
  return FREE_TEXTS.has(name) ? RULES.free : RULES.line;
}

function isJson(value: string): boolean {
  try {
    JSON.parse(value);
    return true;
  } catch {
    return false;
  }
}

export class ColumnRules {
  readonly #read: Tx;
  readonly #rules = new Map<string, Map<string, { rule: Rule; is_required: boolean }>>();

  constructor(read: Tx) {
    this.#read = read;
  }

  /** Throws AppError `invalid` that names table and field where a value is none that its column takes. */
  check(table: string, row: Row): void {
    const rules = this.#rulesOf(table);
    for (const [name, value] of Object.entries(row)) {
      const known = rules.get(name);
      const wrong =
        known && value === null ? known.is_required && 'must not be null' : known?.rule(value ?? '');
      if (wrong)
        throw new AppError('invalid', `A row of ${table} in the file is refused: its ${name} ${wrong}.`);
    }
  }

  #rulesOf(table: string) {
    let rules = this.#rules.get(table);
    if (!rules) {
      const columns = listColumns(this.#read, table);
      rules = new Map(
        columns.map((column) => [
          column.name,
          { rule: ruleOf(column), is_required: column.is_required === 1 },
        ]),
      );
      this.#rules.set(table, rules);
    }
    return rules;
  }
}
