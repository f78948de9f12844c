/** `satchel email list`: the log of a project. What became of one email is explained by deliveries. */
import { Option } from 'commander';
import type { Projects } from '../../access/projects/service.ts';
import { textOptions } from '../../platform/cli/options.ts';
import { projectOf } from '../../platform/cli/project-option.ts';
import type { Noun } from '../../platform/cli/verb.ts';
import { parse } from '../../platform/http/schema.ts';
import { emailListQuery } from './schemas.ts';
import { EMAIL_STATUSES, type Emails } from './service.ts';

type Services = { emails: Emails; projects: Projects };

/** Registers `satchel email list` below its noun. */
export function registerEmailLogCommand(email: Noun<Services>): void {
  email
    .verb('list', 'the emails of a project, newest first')
    .ofProject()
    .addOption(new Option('--status <status>', 'only these').choices(EMAIL_STATUSES))
    .option('--to <address>', 'only those to this address')
    .option('--template <slug>', 'only those of this template')
    .example(
      'satchel email list --project shop --status failed',
      'satchel email list --project shop --to ann@example.org',
    )
    .lists(
      ({ services, page }, options) => {
        const query = parse(emailListQuery, { ...page, ...textOptions(options, 'status', 'to', 'template') });
        return services.emails.list(projectOf(services, options), query);
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
}
