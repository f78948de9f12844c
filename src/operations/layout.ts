/** What commands need of a data directory that they work on without the services. */
import { existsSync } from 'node:fs';
import { AppError } from '../errors.ts';
import { databasePathOf } from '../platform/data-directory.ts';

/** The database of a directory. Throws AppError `not_found` when there is none. */
export function requireDatabase(data_dir: string): string {
  const path = databasePathOf(data_dir);
  if (existsSync(path)) return path;
  throw new AppError(
    'not_found',
    `There is no database in ${data_dir}. Name the data directory with --data-dir or SATCHEL_DATA_DIR.`,
  );
}
