/** `satchel email list`: the log of a project. What became of one email is told by deliveries. */
import { Option } from 'commander';
import type { Projects } from '../../access/projects/service.ts';
import type { Cli } from '../../platform/cli/cli.ts';
import { textOption } from '../../platform/cli/options.ts';
import { pagedTable, pageOf, withPaging } from '../../platform/cli/paging.ts';
import { formatTable } from '../../platform/cli/tables.ts';
import { parse } from '../../platform/http/schema.ts';
import { emailListQuery } from './schemas.ts';
import { EMAIL_STATUSES, type Emails } from './service.ts';

type Noun = ReturnType<Cli<unknown>['noun']>;

/** Registers `satchel email list` below its noun. */
export function registerEmailLogCommand(cli: Cli<{ emails: Emails; projects: Projects }>, email: Noun): void {
  withPaging(cli.verb(email, 'list', 'the emails of a project, newest first'))
    .requiredOption('--project <ref>', 'the project: numeric id, ULID or slug')
    .addOption(new Option('--status <status>', 'only these').choices(EMAIL_STATUSES))
    .option('--to <address>', 'only those to this address')
    .option('--template <slug>', 'only those of this template')
    .example(
      'satchel email list --project shop --status failed',
      'satchel email list --project shop --to ann@example.org',
    )
    .does(async ({ services }, options) => {
      const project = services.projects.require(textOption(options, 'project') ?? '');
      const named = ['status', 'to', 'template'].flatMap((name) => {
        const value = textOption(options, name);
        return value === undefined ? [] : [[name, value]];
      });
      const query = parse(emailListQuery, { ...pageOf(options), ...Object.fromEntries(named) });
      const { data, meta } = services.emails.list(project, query);
      const table = formatTable(
        ['email', 'status', 'to', 'subject', 'template', 'created', 'from'],
        data.map((one) => [
          ...[one.id, one.status, one.to, one.subject],
          ...[one.template, one.created_at, one.from_email],
        ]),
        'No email matches.',
      );
      return { json: data, text: pagedTable(table, meta) };
    });
}
