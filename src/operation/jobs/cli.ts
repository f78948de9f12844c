/** `satchel job`: looking at what is done outside requests. */
import { Option } from 'commander';
import type { Projects } from '../../access/projects/service.ts';
import type { Cli } from '../../platform/cli/cli.ts';
import { textOption } from '../../platform/cli/options.ts';
import { projectOf } from '../../platform/cli/project-option.ts';
import { JOB_STATUSES } from '../../platform/database/tables.ts';
import type { Jobs } from './service.ts';

/** Registers `satchel job list | show`. */
export function registerJobCommands(cli: Cli<{ jobs: Jobs; projects: Projects }>): void {
  const noun = cli.noun('job');
  noun
    .verb('list', 'the jobs of a project, newest first')
    .ofProject()
    .addOption(new Option('--status <status>', 'only these').choices(JOB_STATUSES))
    .option('--type <type>', 'only these, such as email.send')
    .example('satchel job list --project shop --status failed')
    .lists(
      ({ services, page }, options) => {
        const status = JOB_STATUSES.find((each) => each === options.status);
        const type = textOption(options, 'type');
        return services.jobs.list(projectOf(services, options).id, { ...page, status, type });
      },
      ({ id, type, status, attempts, queued_at, error }) => ({
        job: id,
        type,
        status,
        attempts,
        queued: queued_at,
        error,
      }),
      'No job matches.',
    );
  noun
    .verb('show <id>', 'how a job stands, or how it ended')
    .example('satchel job show 01J00000000000000000000000')
    .shows(({ services }, _options, id) => {
      const { result, ...fields } = services.jobs.requireAny(id);
      return { ...fields, result };
    });
}
