/**
 * `satchel email list | export`: the log of a project. What became of one email is explained by deliveries.
 */
import { Option } from 'commander';
import type { Projects } from '../../access/projects/service.ts';
import { writeTable } from '../../platform/cli/csv-output.ts';
import { type Options, textOptions } from '../../platform/cli/options.ts';
import { projectOf } from '../../platform/cli/project-option.ts';
import type { Noun, Verb } from '../../platform/cli/verb.ts';
import { parse } from '../../platform/http/schema.ts';
import { keyOrAsGiven, type Naming } from '../../platform/words/naming.ts';
import { emailListQuery, emailLogQuery } from './schemas.ts';
import { EMAIL_STATUSES, type Emails } from './service.ts';

type Services = { emails: Emails; projects: Projects; template_names: Naming };

/** Registers `satchel email list | export` below its noun. */
export function registerEmailLogCommand(email: Noun<Services>): void {
  withFilters(email.verb('list', 'the emails of a project, newest first'))
    .example(
      'satchel email list --project shop --status failed',
      'satchel email list --project shop --to ann@example.org',
    )
    .lists(
      ({ services, page }, options) => {
        const project = projectOf(services, options);
        const query = parse(emailListQuery, { ...page, ...filtersOf(services, project, options) });
        return services.emails.list(project, query);
      },
      ({ id, status, to, subject, template, created_at, from_email }) => ({
        email: id,
        status,
        to,
        subject,
        template,
        created: created_at,
        from: from_email,
      }),
      'No email matches.',
    );
  withFilters(email.verb('export', 'the emails of a project as CSV, newest first'))
    .example('satchel email export --project shop --date-from 2030-01-01 > emails.csv')
    .does(async (session, options) => {
      const { services, onTrail } = session;
      const project = projectOf(services, options);
      const query = parse(emailLogQuery, filtersOf(services, project, options));
      return writeTable(session, options, await services.emails.export(project, query, onTrail(project)));
    });
}

function withFilters<S>(verb: Verb<S>): Verb<S> {
  return verb
    .ofProject()
    .addOption(new Option('--status <status>', 'only these').choices(EMAIL_STATUSES))
    .option('--to <address>', 'only those to addresses that begin so')
    .option('--template <template>', 'only those of this template: its slug, name or id')
    .option('--date-from <time>', 'only those accepted at or after this moment (UTC unless it says)')
    .option('--date-to <time>', 'only those accepted before this moment');
}

function filtersOf({ template_names }: Services, project: { id: number }, options: Options) {
  const { dateFrom, dateTo, template, ...given } = textOptions(
    options,
    'status',
    'to',
    'template',
    'dateFrom',
    'dateTo',
  );
  // One that was deleted stays in the log, by its slug.
  const slug = keyOrAsGiven(template_names, project, template);
  return { ...given, template: slug, date_from: dateFrom, date_to: dateTo };
}
