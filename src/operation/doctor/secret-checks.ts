/** What `satchel doctor` asks of secrets as a whole: the master key, and the data keys that it opens. */
import type { Database as Sqlite } from 'bun:sqlite';
import type { Config } from '../../config.ts';
import { readMetaValue } from '../../platform/database/plain-connection.ts';
import { aside, type Finding, ok, problem } from '../../platform/host/health-check.ts';
import {
  judgeMasterKey,
  masterKeySourceOf,
  warnOfKeyFileMode,
} from '../../platform/secrets/master-key-source.ts';
import { dataKeyIdOf, type MasterKey, unwrapDataKey } from '../../platform/secrets/sealing.ts';
import { shellWord } from '../../platform/words/phrases.ts';
import { listSealedColumns, listSealedValues } from './store.ts';

export async function checkMasterKey(
  sqlite: Sqlite,
  config: Config,
): Promise<{ finding: Finding[]; key: MasterKey | null }> {
  const check = 'master key';
  const master_key_id = readMetaValue(sqlite, 'master_key_id');
  if (master_key_id === null) {
    return {
      finding: [ok(check, 'The database is bound to none yet; the next start takes one.')],
      key: null,
    };
  }
  const judged = await judgeMasterKey(config, {
    master_key_id,
    passphrase_salt: readMetaValue(sqlite, 'passphrase_salt'),
  });
  if (judged.fit !== 'fits') {
    const remedy =
      'set SATCHEL_MASTER_KEY_FILE, SATCHEL_MASTER_KEY or SATCHEL_PASSPHRASE as the server has it';
    return { finding: [problem(check, judged.message, remedy)], key: null };
  }
  const finding = [ok(check, `${master_key_id} fits. Keep a copy elsewhere: backups leave it out.`)];
  const source = masterKeySourceOf(config);
  const open_mode = source.kind === 'file' ? warnOfKeyFileMode(source) : null;
  if (source.kind === 'file' && open_mode !== null) {
    finding.push(aside('mode', problem(check, open_mode, `chmod 600 ${shellWord(source.path)}`)));
  }
  return { finding, key: judged.key };
}

/** Data keys that do not open, and how many values a key sealed that is missing or does not open. */
export function checkDataKeys(sqlite: Sqlite, master: MasterKey): Finding[] {
  const check = 'data keys';
  const rows = sqlite
    .query<{ id: number; scope: string; wrapped: string }, []>('SELECT id, scope, wrapped FROM data_keys')
    .all();
  const opened = new Set(rows.filter((row) => unwrapDataKey(master, row)).map(({ id }) => id));
  const needed = new Set<number | null>();
  const lost_values: Finding[] = [];
  for (const { table, column } of listSealedColumns(sqlite)) {
    let lost = 0;
    for (const sealed of listSealedValues(sqlite, { table, column })) {
      const id = dataKeyIdOf(sealed);
      needed.add(id);
      if (id === null || !opened.has(id)) lost += 1;
    }
    if (lost === 0) continue;
    const message = `Values of ${table}.${column} that are sealed under no data key that opens: ${lost}.`;
    const lost_value = problem(check, message, 'satchel restore FILE --yes, or store them again');
    lost_values.push(aside(`${table}.${column}`, lost_value));
  }
  // A data key that seals nothing any more was replaced when its secrets were stored again.
  const findings = rows
    .filter(({ id }) => !opened.has(id) && needed.has(id))
    .map(({ scope }) =>
      aside(
        scope,
        problem(
          check,
          `The data key of ${scope} does not open: what it seals can't be decrypted.`,
          'satchel restore FILE --yes, or store its secrets again',
        ),
      ),
    );
  findings.push(...lost_values);
  return findings.length > 0
    ? findings
    : [ok(check, `Each opens under the master key, ${opened.size} in all.`)];
}
