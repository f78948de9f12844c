/** What may be stored in a field: reading the `values` of a request, with messages that say what would be right. */
import { type FieldErrors, invalid } from '../errors.ts';
import { MAX_FILENAME_BYTES, MAX_VAULT_FILE_BYTES, MAX_VAULT_VALUE_CHARS } from '../limits.ts';
import { countCodePoints, isPlainObject } from '../platform/http/schema.ts';
import { type VaultField, type VaultService, WIDGET_MODES } from './registry.ts';

/** `content` null removes the field. */
export interface VaultChange {
  field: VaultField;
  content: string | VaultFile | null;
}

export interface VaultFile {
  filename: string;
  bytes: Uint8Array;
}

/** The changes that `values` asks for. Throws AppError `invalid` with a message for each field that is wrong. */
export function readChanges(service: VaultService, values: Readonly<Record<string, unknown>>): VaultChange[] {
  const errors: FieldErrors = {};
  const changes: VaultChange[] = [];
  for (const [name, value] of Object.entries(values)) {
    const field = service.fields.find((each) => each.field === name);
    if (!field) {
      // The name is the client's: it could be anything, a secret in the wrong place included.
      const known = service.fields.map((each) => each.field).join(', ');
      errors.values = [`has a field that ${service.service} does not know; its fields are: ${known}`];
      continue;
    }
    if (value === null) {
      changes.push({ field, content: null });
      continue;
    }
    const content = field.file ? readFile(value) : readText(service, field, value);
    if ('wrong' in content) errors[`values.${name}`] = [content.wrong];
    else changes.push({ field, content: content.is });
  }
  if (Object.keys(errors).length > 0) throw invalid(errors);
  return changes;
}

type Read<T> = { is: T } | { wrong: string };

function readText(service: VaultService, field: VaultField, value: unknown): Read<string> {
  // A port is a number to whoever writes JSON by hand.
  const text = typeof value === 'number' && Number.isFinite(value) ? String(value) : value;
  if (typeof text !== 'string') return { wrong: 'must be a string, or null to remove the field' };
  if (text.trim() === '') return { wrong: 'must not be empty; send null to remove the field' };
  const length = text.length > MAX_VAULT_VALUE_CHARS ? countCodePoints(text) : text.length;
  if (length > MAX_VAULT_VALUE_CHARS) {
    return { wrong: `must have at most ${MAX_VAULT_VALUE_CHARS} characters (got ${length})` };
  }
  // Neither can be handed on unchanged: an environment variable ends at NUL, and half a character has no UTF-8.
  if (text.includes('\0')) return { wrong: 'must not contain a NUL character' };
  if (!text.isWellFormed()) return { wrong: 'must be well-formed Unicode' };
  if (service.service === 'captcha' && field.field === 'widget_mode' && !WIDGET_MODES.includes(text)) {
    return { wrong: `must be one of: ${WIDGET_MODES.join(', ')}` };
  }
  return { is: text };
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

/** Line breaks are let pass, because command-line tools wrap their base64; whatever else Buffer passes over is refused. */
function decodeBase64(text: string): Uint8Array | null {
  const compact = text.replace(/[\r\n]/g, '');
  const bytes = Buffer.from(compact, 'base64');
  const padded = compact.padEnd(Math.ceil(compact.length / 4) * 4, '=');
  return bytes.toString('base64') === padded ? bytes : null;
}
