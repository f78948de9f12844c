/** What doctor says of the file of settings that systemd reads for the installed service. */

import { parseEnvFile, readEnvFile } from '../../platform/host/env-file.ts';
import { type Finding, warning } from '../../platform/host/health-check.ts';
import { type InstalledService, isSameFolder } from '../../platform/host/installed-service.ts';
import { asCaller } from '../../platform/host/ownership.ts';
import { shellWord } from '../../platform/words/phrases.ts';

/**
 * A warning for lines that systemd ignores, whose settings are then not in force. Nothing for who may not read
 * the file, for another directory than the service's, and for a folder's own file, whose lines stop the server.
 */
export function checkEnvFile(service: InstalledService | null, data_dir: string): Finding[] {
  if (!service || service.has_own_folder || !isSameFolder(service.data_dir, data_dir)) return [];
  const { settings } = service;
  let text: string;
  try {
    text = asCaller(() => readEnvFile(settings));
  } catch {
    return [];
  }
  const { ignored, doubtful } = parseEnvFile(text);
  const lines = [...ignored, ...doubtful].map(({ line, reason }) => `line ${line} (${reason})`);
  if (lines.length === 0) return [];
  const message = `systemd ignores what it can't read in ${settings}: ${lines.join(', ')}.`;
  return [warning('settings', message, `sudoedit ${shellWord(settings)}, then systemctl restart satchel`)];
}
