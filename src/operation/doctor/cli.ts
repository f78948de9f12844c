/** `satchel doctor`. It opens the data directory in its own way, as it must change nothing. */
import { type Cli, EXIT } from '../../platform/cli/cli.ts';
import { tone } from '../../platform/cli/colour.ts';
import { textOption } from '../../platform/cli/options.ts';
import { shellWord } from '../../platform/cli/shell-words.ts';
import type { Finding } from '../../platform/host/health-check.ts';
import { checkEnvFile } from './env-file-check.ts';
import { type DoctorDeps, examine, worstOf } from './service.ts';

export function registerDoctorCommand<S>(cli: Cli<S>, deps: DoctorDeps): void {
  cli
    .topVerb('doctor')
    .option('--deep', 'look for each object in the object store too')
    .addHelpText(
      'after',
      '\nExit status: 1 when there is a problem; warnings alone are 0.\n\nExample:\n  satchel doctor',
    )
    .action(
      cli.plainAction(async ({ config }, options) => {
        const found = [
          ...checkEnvFile(cli.host.process.installedService(), config.data_dir),
          ...(await examine(config, deps, [], options.deep === true)),
        ];
        const is_named = textOption(options, 'dataDir') !== undefined;
        const findings = is_named ? found.map((finding) => atDirectory(finding, config.data_dir)) : found;
        const status = worstOf(findings);
        return {
          json: { status, findings },
          text: () => findings.map(presentFinding).join('\n'),
          exit: status === 'problem' ? EXIT.refused : EXIT.done,
        };
      }),
    );
}

/** A remedy for the directory that --data-dir named: without it the command would work on another one. */
function atDirectory(finding: Finding, data_dir: string): Finding {
  const named = `satchel --data-dir ${shellWord(data_dir)} `;
  return { ...finding, remedy: finding.remedy?.replace(/(?<=^|, then )satchel /g, () => named) ?? null };
}

const MARKS = {
  ok: 'ok      ',
  warning: tone('doubtful', 'WARNING '),
  problem: tone('bad', 'PROBLEM '),
} as const;

function presentFinding({ check, status, message, remedy }: Finding): string {
  const line = `${MARKS[status]} ${check}: ${message}`;
  return remedy === null ? line : `${line}\n          -> ${remedy}`;
}
