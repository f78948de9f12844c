/** What a field may hold: reads the `values` of a request, with messages that say what would be right. */
import { type FieldErrors, invalid } from '../../errors.ts';
import { MAX_FILENAME_BYTES } from '../../limits.ts';
import { showNames } from '../../platform/http/ignored-fields.ts';
import { countCodePoints, isPlainObject } from '../../platform/http/schema.ts';
import { findVaultField, type VaultField, type VaultService, WIDGET_MODES } from './registry.ts';

/** Decision: a stored configuration file. */
const MAX_VAULT_FILE_BYTES = 1024 * 1024;
/** Linux passes 128 KiB in one variable (MAX_ARG_STRLEN): four bytes a character, and its name. */
const MAX_VAULT_VALUE_CHARS = 32_000;
/** Decision: the names of the vault service `env`, and what each may hold. */
const MAX_ENV_NAMES = 200;
const MAX_ENV_VALUE_BYTES = 65_536;

/** `content` null removes the field. */
export interface VaultChange {
  field: VaultField;
  content: string | VaultFile | null;
}

export interface VaultFile {
  filename: string;
  bytes: Uint8Array;
}

/** The changes that `values` asks for, and what is wrong with them, by field. */
export function readChanges(
  service: VaultService,
  { values, plain }: { values?: unknown; plain?: readonly string[] | undefined },
): { changes: VaultChange[]; errors: FieldErrors } {
  const errors = new Map<string, string[]>();
  const changes: VaultChange[] = [];
  if (!isPlainObject(values)) errors.set('values', ['must be an object']);
  if (plain && !service.free_form) errors.set('plain', [`has no meaning for ${service.service}`]);
  for (const [name, value] of Object.entries(isPlainObject(values) ? values : {})) {
    const change = readChange(service, name, value);
    // The name is the client's: it could be anything, and two may look the same once they are cut.
    if ('wrong' in change) errors.set(showNames([name]), [change.wrong]);
    else changes.push(change.is);
  }
  return { changes, errors: Object.fromEntries(errors) };
}

function readChange(service: VaultService, name: string, value: unknown): Read<VaultChange> {
  // A new name is secret until the submission's `plain`, or the kind it is stored with, says otherwise.
  const field = findVaultField(service, name);
  if (!field) {
    const known = service.fields.map((each) => each.field).join(', ');
    return {
      wrong: service.free_form
        ? 'is no name of a variable: a letter or _, then letters, digits and _, at most 128 in all'
        : `is no field of ${service.service}; its fields are: ${known}`,
    };
  }
  if (value === null) return { is: { field, content: null } };
  const content = field.file
    ? readFile(value)
    : service.free_form
      ? readVariable(value)
      : readText(service, field, value);
  return 'wrong' in content ? content : { is: { field, content: content.is } };
}

/**
 * Which names are plain once these changes are made; only a free-form service has plain names. Without
 * `plain` each keeps its kind, and a new one is secret unless `isPlainIfNew` says otherwise. Throws AppError
 * `invalid` for a name in `plain` without a value, and past `MAX_ENV_NAMES`.
 */
export function settleKinds(
  stored: ReadonlyMap<string, boolean>,
  changes: readonly VaultChange[],
  plain: readonly string[] | undefined,
  isPlainIfNew: (name: string) => boolean = () => false,
): Map<string, boolean> {
  const sent = new Set(changes.map(({ field }) => field.field));
  if (plain?.some((name) => !sent.has(name) && stored.get(name) !== true)) {
    throw invalid({ plain: ['has a name that is neither in values nor plain already; send its value too'] });
  }
  const kinds = new Map(stored);
  for (const { field, content } of changes) {
    const name = field.field;
    if (content === null) kinds.delete(name);
    else kinds.set(name, plain ? plain.includes(name) : (stored.get(name) ?? isPlainIfNew(name)));
  }
  if (kinds.size > MAX_ENV_NAMES) {
    throw invalid({
      values: [`must leave at most ${MAX_ENV_NAMES} names stored (these make it ${kinds.size})`],
    });
  }
  return kinds;
}

type Read<T> = { is: T } | { wrong: string };

function readVariable(value: unknown): Read<string> {
  if (typeof value !== 'string') return { wrong: 'must be a string, or null to remove the name' };
  const bytes = Buffer.byteLength(value);
  if (bytes > MAX_ENV_VALUE_BYTES) {
    return { wrong: `must have at most ${MAX_ENV_VALUE_BYTES} bytes (got ${bytes})` };
  }
  return readUnchangeable(value);
}

/** An environment variable ends at NUL, and half a character has no UTF-8: neither would arrive unchanged. */
function readUnchangeable(text: string): Read<string> {
  if (text.includes('\0')) return { wrong: 'must not contain a NUL character' };
  return text.isWellFormed() ? { is: text } : { wrong: 'must be well-formed Unicode' };
}

function readText(service: VaultService, field: VaultField, value: unknown): Read<string> {
  // A port is a number to whoever writes JSON by hand.
  const text = typeof value === 'number' && Number.isFinite(value) ? String(value) : value;
  if (typeof text !== 'string') return { wrong: 'must be a string, or null to remove the field' };
  if (text.trim() === '') return { wrong: 'must not be empty; send null to remove the field' };
  const length = text.length > MAX_VAULT_VALUE_CHARS ? countCodePoints(text) : text.length;
  if (length > MAX_VAULT_VALUE_CHARS) {
    return { wrong: `must have at most ${MAX_VAULT_VALUE_CHARS} characters (got ${length})` };
  }
  if (service.service === 'captcha' && field.field === 'widget_mode' && !WIDGET_MODES.includes(text)) {
    return { wrong: `must be one of: ${WIDGET_MODES.join(', ')}` };
  }
  return readUnchangeable(text);
}

function readFile(value: unknown): Read<VaultFile> {
  if (!isPlainObject(value)) {
    return { wrong: 'is a file: it must be {"filename": ..., "content_base64": ...}, or null to remove it' };
  }
  const { filename, content_base64 } = value;
  if (typeof filename !== 'string' || !isFilename(filename)) {
    return {
      wrong: `filename must be a name of 1 to ${MAX_FILENAME_BYTES} bytes without slashes or control characters`,
    };
  }
  if (typeof content_base64 !== 'string') return { wrong: 'content_base64 must be a string of base64' };
  const bytes = decodeBase64(content_base64);
  if (!bytes) return { wrong: 'content_base64 must be valid base64' };
  if (bytes.length === 0) return { wrong: 'content_base64 must not be empty; send null to remove the file' };
  if (bytes.length > MAX_VAULT_FILE_BYTES) {
    return { wrong: `must have at most ${MAX_VAULT_FILE_BYTES} bytes (got ${bytes.length})` };
  }
  return { is: { filename, bytes } };
}

function isFilename(name: string): boolean {
  if (name.trim() === '' || name === '.' || name === '..') return false;
  if (/[/\\\p{Cc}]/u.test(name) || !name.isWellFormed()) return false;
  return Buffer.byteLength(name) <= MAX_FILENAME_BYTES;
}

/** Lets line breaks pass, as command-line tools wrap base64. All else that Buffer would skip is refused. */
function decodeBase64(text: string): Uint8Array | null {
  const compact = text.replace(/[\r\n]/g, '');
  const bytes = Buffer.from(compact, 'base64');
  const padded = compact.padEnd(Math.ceil(compact.length / 4) * 4, '=');
  return bytes.toString('base64') === padded ? bytes : null;
}
