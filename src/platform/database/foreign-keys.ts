/** What it means that a row names another one that is not there. */
import { notFound } from '../../errors.ts';
import { sqliteErrorOf } from './database.ts';

/** Whether SQLite refused a row because of one that it names and that is not there. */
export function isOfMissingRow(error: unknown): boolean {
  return sqliteErrorOf(error)?.code === 'SQLITE_CONSTRAINT_FOREIGNKEY';
}

/** For `catch`: what the row names may have been deleted since it was looked up. Throws AppError `not_found` then, else what was thrown. */
export function explainMissing(noun: string): (error: unknown) => never {
  return (error) => {
    throw isOfMissingRow(error) ? notFound(noun) : error;
  };
}
