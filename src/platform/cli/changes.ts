/** What a verb that changes something was given. */
import { UsageError } from './cli.ts';

/** The fields that have a value. Wrong usage where none has. */
export function requireChanges(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  if (given.length === 0) throw new UsageError('Name what to change.');
  return Object.fromEntries(given);
}
