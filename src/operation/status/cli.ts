/** `satchel health`: what watches a container runs it. */
import { AppError, messageOf } from '../../errors.ts';
import type { Cli } from '../../platform/cli/cli.ts';
import { isServed } from '../../platform/host/directory-lock.ts';
import { askNoted, readServerNote } from '../../platform/host/server-note.ts';
import { t } from '../../platform/http/schema.ts';
import { parse } from '../../platform/http/validation.ts';

/** Decision: who hangs for so long does not run. */
const DEADLINE_MS = 5_000;

/** The server may be of another version. */
const answer = t.Object({ status: t.String() });

export function registerHealthCommand<S>(cli: Cli<S>): void {
  cli
    .topVerb('health')
    .remark(`It prints ok, or degraded where the server answers and can't store anything, say.

Exit status: 0 for both, so that nobody ends a server that can still be read; 1 without an answer within 5 s.`)
    .example('satchel health')
    .action(
      cli.plainAction(async ({ config }) => {
        const { data_dir, host, port, tls } = config;
        if (!isServed(data_dir)) throw new AppError('unavailable', `There is no server on ${data_dir}.`);
        // On a full disk it could note nothing.
        const note = readServerNote(data_dir) ?? {
          address: tls ? `https://${tls.names[0]}` : 'http://localhost',
          settings: { SATCHEL_HOST: host, SATCHEL_PORT: String(port) },
          findings_key: null,
        };
        try {
          const json: unknown = JSON.parse(
            await askNoted(note, '/api/health', AbortSignal.timeout(DEADLINE_MS)),
          );
          return { json, text: parse(answer, json).status };
        } catch (error) {
          throw new AppError(
            'unavailable',
            `The server on ${data_dir} does not say how it is: ${messageOf(error)}.`,
          );
        }
      }),
    );
}
