/** `satchel job`: looking at what is done outside requests. */
import type { Projects } from '../../access/projects/service.ts';
import type { Cli } from '../../platform/cli/cli.ts';
import { fieldsOf } from '../../platform/cli/fields.ts';
import { rowOf } from '../../platform/cli/tables.ts';
import { JOB_STATUSES } from '../../platform/database/tables.ts';
import { oneOf, t } from '../../platform/http/schema.ts';
import type { Jobs } from './service.ts';

const listed = t.Object({ status: t.Optional(oneOf(JOB_STATUSES)), type: t.Optional(t.String()) });

/** Registers `satchel job list | show`. */
export function registerJobCommands(cli: Cli<{ jobs: Jobs; projects: Projects }>): void {
  const noun = cli.noun('job');
  noun
    .verb('list', 'the jobs of a project, newest first')
    .ofProject()
    .takes(
      fieldsOf(listed, {
        status: ['--status <status>', 'only these'],
        type: ['--type <type>', 'only these, such as email.send'],
      }),
      listed,
    )
    .example('satchel job list --project shop --status failed')
    .lists(
      ({ services, project, page, sent }) => services.jobs.list(project.id, { ...page, ...sent }),
      (one) => rowOf(one, 'job=id type status attempts queued=queued_at error'),
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
