/** `satchel job`: looking at what is done outside requests. */
import { Option } from 'commander';
import type { Projects } from '../../access/projects/service.ts';
import type { Cli } from '../../platform/cli/cli.ts';
import { textOption } from '../../platform/cli/options.ts';
import { pagedTable, pageOf, withPaging } from '../../platform/cli/paging.ts';
import { formatFields, formatTable } from '../../platform/cli/tables.ts';
import { JOB_STATUSES } from '../../platform/database/tables.ts';
import type { Jobs } from './service.ts';

/** Registers `satchel job list | show`. */
export function registerJobCommands(cli: Cli<{ jobs: Jobs; projects: Projects }>): void {
  const noun = cli.noun('job', 'what is done outside requests, such as sending');
  withPaging(cli.verb(noun, 'list', 'the jobs of a project, newest first'))
    .requiredOption('--project <ref>', 'the project: numeric id, ULID or slug')
    .addOption(new Option('--status <status>', 'only these').choices(JOB_STATUSES))
    .option('--type <type>', 'only these, such as email.send')
    .example('satchel job list --project shop --status failed')
    .does(async ({ services }, options) => {
      const project = services.projects.require(textOption(options, 'project') ?? '');
      const status = JOB_STATUSES.find((each) => each === options.status);
      const type = textOption(options, 'type');
      const { data, meta } = services.jobs.list(project.id, { ...pageOf(options), status, type });
      const rows = data.map((one) => [one.id, one.type, one.status, one.attempts, one.queued_at, one.error]);
      const titles = ['job', 'type', 'status', 'attempts', 'queued', 'error'];
      return { json: data, text: pagedTable(formatTable(titles, rows, 'No job matches.'), meta) };
    });
  cli
    .verb(noun, 'show <id>', 'how a job stands, or how it ended')
    .example('satchel job show 01J00000000000000000000000')
    .does(async ({ services }, _options, id = '') => {
      const { result, ...fields } = services.jobs.require(id);
      const text = formatFields({ ...fields, result: result && JSON.stringify(result) });
      return { json: { ...fields, result }, text };
    });
}
