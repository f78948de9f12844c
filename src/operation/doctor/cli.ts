/** `satchel doctor`. It opens the data directory in its own way, as it must change nothing. */
import type { Environment } from '../../config.ts';
import { messageOf } from '../../errors.ts';
import { saysOtherwise } from '../../noted-settings.ts';
import { type Cli, type CliContext, EXIT } from '../../platform/cli/cli.ts';
import { tone } from '../../platform/cli/colour.ts';
import { textOption } from '../../platform/cli/options.ts';
import { readServerNote } from '../../platform/host/server-note.ts';
import { shellWord } from '../../platform/words/phrases.ts';
import { withoutServiceLinks } from '../../settings.ts';
import { askServer, type Told, tellUnseen } from './asking.ts';
import { checkEnvFile } from './directory-checks.ts';
import { type DoctorDeps, describeServer, examine, SERVER, worstOf } from './service.ts';

export function registerDoctorCommand<S>(cli: Cli<S>, deps: DoctorDeps): void {
  cli
    .topVerb('doctor')
    .option('--deep', 'look for each object in the object store too')
    .remark(`Beside a running server it has that look, which takes two minutes at most; by itself it looks where none runs, and
where a variable of its own says otherwise than the server's.

Exit status: 1 when there is a problem; warnings, and what could not be looked at, are 0.`)
    .example('satchel doctor')
    .action(
      cli.plainAction(async (context, options) => {
        const { config } = context;
        const found = [
          ...checkEnvFile(cli.host.process.installedService(), config.data_dir),
          ...(await lookBesideServer(context, cli.host.process.environment, options.deep === true)),
        ];
        const is_named = textOption(options, 'dataDir') !== undefined;
        const findings = is_named ? found.map((finding) => atDirectory(finding, config.data_dir)) : found;
        const status = worstOf(findings);
        return {
          json: {
            status,
            findings: findings.map((each) => ({ ...each, acts: each.acts ?? [], about: each.about ?? null })),
          },
          text: () => findings.map(presentFinding).join('\n'),
          exit: status === 'problem' ? EXIT.refused : EXIT.done,
        };
      }),
    );

  /** What the server finds, where one runs that answers and is as the verb was told; else what is found here. */
  async function lookBesideServer(
    { config, note: tell }: CliContext,
    environment: Environment,
    is_deep: boolean,
  ): Promise<Told[]> {
    const note = readServerNote(config.data_dir);
    if (note?.findings_key && !saysOtherwise(withoutServiceLinks(environment), note.settings)) {
      try {
        const findings = await askServer(note, { is_deep });
        // The server does not know where it is told to be.
        return findings.map((each) => (each.check === SERVER ? describeServer(config, true) : each));
      } catch (error) {
        tell(`satchel: the server did not say what it finds (${messageOf(error)}), so this looks by itself`);
      }
    }
    const findings = await examine(config, deps, [], is_deep);
    return note ? tellUnseen(findings, config, note) : findings;
  }
}

/** A remedy for the directory that --data-dir named: without it the command would work on another one. */
function atDirectory(finding: Told, data_dir: string): Told {
  const named = `satchel --data-dir ${shellWord(data_dir)} `;
  return { ...finding, remedy: finding.remedy?.replace(/(?<=^|, then )satchel /g, () => named) ?? null };
}

const MARKS = {
  ok: 'ok      ',
  warning: tone('doubtful', 'WARNING '),
  problem: tone('bad', 'PROBLEM '),
  not_looked_at: tone('doubtful', 'NOT LOOKED AT'),
} as const;

function presentFinding({ check, status, message, remedy }: Told): string {
  const line = `${MARKS[status]} ${check}: ${message}`;
  return remedy === null ? line : `${line}\n          -> ${remedy}`;
}
