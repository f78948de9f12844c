/**
 * `satchel email list | export`: the log of a project. What became of one email is explained by deliveries.
 */
import type { Projects } from '../../access/projects/service.ts';
import { fieldsOf } from '../../platform/cli/fields.ts';
import { rowOf, writeTable } from '../../platform/cli/tables.ts';
import type { Noun, OnProject, VerbSession } from '../../platform/cli/verb.ts';
import { keyOrAsGiven, type Naming } from '../../platform/words/phrases.ts';
import { emailLogQuery } from './schemas.ts';
import type { Emails } from './service.ts';

type Services = { emails: Emails; projects: Projects; template_names: Naming };

const FILTERS = fieldsOf(emailLogQuery, {
  status: ['--status <status>', 'only these'],
  to: ['--to <address>', 'only those to addresses that begin so'],
  template: ['--template <template>', 'only those of this template: its slug, name or id'],
  date_from: ['--date-from <time>', 'only those accepted at or after this moment (UTC unless it says)'],
  date_to: ['--date-to <time>', 'only those accepted before this moment'],
});

const reads = {
  // One that was deleted stays in the log, by its slug.
  template: (ref: string, { services, project }: VerbSession<Services> & OnProject<{ id: number }>) =>
    keyOrAsGiven(services.template_names, project, ref),
};

/** Registers `satchel email list | export` below its noun. */
export function registerEmailLogCommand(email: Noun<Services>): void {
  email
    .verb('list', 'the emails of a project, newest first')
    .ofProject()
    .takes(FILTERS, emailLogQuery, { reads })
    .example(
      'satchel email list --project shop --status failed',
      'satchel email list --project shop --to ann@example.org',
    )
    .lists(
      ({ services, project, page, sent }) => services.emails.list(project, { ...sent, ...page }),
      (one) => rowOf(one, 'email=id status to subject template created=created_at from=from_email'),
      'No email matches.',
    );
  email
    .verb('export', 'the emails of a project as CSV, newest first')
    .ofProject()
    .takes(FILTERS, emailLogQuery, { reads })
    .example('satchel email export --project shop --date-from 2030-01-01 > emails.csv')
    .does(async (session, options) => {
      const { services, project, sent, trail } = session;
      return writeTable(session, options, await services.emails.export(project, sent, trail));
    });
}
