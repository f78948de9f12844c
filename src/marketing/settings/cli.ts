/** `satchel marketing`: a project's sender, its look, and when and how much of its marketing goes out. */
import { type Cli, UsageError } from '../../platform/cli/cli.ts';
import { textOption } from '../../platform/cli/options.ts';
import { formatFields } from '../../platform/cli/tables.ts';
import type { MarketingServices } from '../cli-services.ts';
import { changes, FIELDS } from './schemas.ts';
import { lackOf, type MarketingSettings, type Settings } from './service.ts';

/** Registers `satchel marketing show | change`. */
export function registerMarketingCommands(cli: Cli<MarketingServices>): void {
  const noun = cli.noun('marketing');
  noun
    .verb('show', 'the settings, and what keeps mail from going out')
    .ofProject()
    .example('satchel marketing show --project shop')
    .shows(
      ({ services, project }) => services.marketing.settings(project.id),
      (settings, { services, project }) =>
        `${formatFields(settings)}\n\n${outlookOf(services.marketing, project.id, settings)}`,
    );
  noun
    .verb('change', 'change what is given; an empty text clears what may be empty')
    .ofProject()
    .changes(FIELDS, changes, {
      options: { send_window_start: '--window', send_window_end: '--window' },
      more: (options) => windowOf(textOption(options, 'window')),
      errorsIn: (sound, { services, project }) => services.marketing.errorsIn(project.id, sound),
    })
    .option('--window <from-to>', 'when mail may go out, such as 09:00-17:30; always')
    .example(
      'satchel marketing change --project shop --enabled --from-name Shop --postal-address "1 High Street, Springfield"',
      'satchel marketing change --project shop --window 09:00-17:30 --timezone Europe/Berlin --daily-cap 5000',
    )
    .shows(
      ({ services, project, sent, trail }) => services.marketing.change(project.id, sent, trail),
      (settings, { services, project, fields }) =>
        `Changed for ${project.slug}: ${Object.keys(fields).join(', ')}.\n${outlookOf(services.marketing, project.id, settings)}`,
    );
}

function windowOf(text: string | undefined) {
  if (text === undefined) return {};
  if (text === 'always') return { send_window_start: null, send_window_end: null };
  const [, send_window_start, send_window_end] = /^([\d:]+)-([\d:]+)$/.exec(text) ?? [];
  if (send_window_start === undefined)
    throw new UsageError('--window takes two times such as 09:00-17:30, or always.');
  return { send_window_start, send_window_end };
}

function outlookOf(marketing: MarketingSettings, project_id: number, settings: Settings): string {
  const lack = lackOf(settings);
  if (lack !== null) return `No marketing mail goes out: that takes ${lack}.`;
  const problem = marketing.problemOfLinks(project_id) ?? marketing.problemOfMailboxes(project_id);
  if (problem !== null) return `No marketing mail goes out. ${problem}`;
  return marketing.isCaptured(project_id)
    ? 'All of its mailboxes capture: nobody gets its mail.'
    : 'Marketing mail may go out.';
}
