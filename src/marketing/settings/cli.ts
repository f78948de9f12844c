/** `satchel marketing`: a project's sender, its look, and when and how much of its marketing goes out. */
import { type Cli, UsageError } from '../../platform/cli/cli.ts';
import { requireChanges, textOption } from '../../platform/cli/options.ts';
import { projectOf } from '../../platform/cli/project-option.ts';
import { formatFields } from '../../platform/cli/tables.ts';
import { requireAll, validate } from '../../platform/http/validation.ts';
import type { MarketingServices } from '../cli-services.ts';
import { changes, FIELDS } from './schemas.ts';
import { lackOf, type MarketingSettings, type Settings } from './service.ts';

const OF_WINDOW = { send_window_start: '--window', send_window_end: '--window' };

/** Registers `satchel marketing show | change`. */
export function registerMarketingCommands(cli: Cli<MarketingServices>): void {
  const noun = cli.noun('marketing');
  noun
    .verb('show', 'the settings, and what keeps mail from going out')
    .ofProject()
    .example('satchel marketing show --project shop')
    .does(({ services: { marketing, ...services } }, options) => {
      const { id } = projectOf(services, options);
      const settings = marketing.settings(id);
      return { json: settings, text: `${formatFields(settings)}\n\n${outlookOf(marketing, id, settings)}` };
    });
  noun
    .verb('change', 'change what is given; an empty text clears what may be empty')
    .ofProject()
    .changes(FIELDS, OF_WINDOW)
    .option('--window <from-to>', 'when mail may go out, such as 09:00-17:30; always')
    .example(
      'satchel marketing change --project shop --enabled --from-name Shop --postal-address "1 High Street, Springfield"',
      'satchel marketing change --project shop --window 09:00-17:30 --timezone Europe/Berlin --daily-cap 5000',
    )
    .does(async ({ services: { marketing, ...services }, fields, onTrail }, options) => {
      const project = projectOf(services, options);
      const given = requireChanges({ ...fields, ...windowOf(textOption(options, 'window')) });
      const sent = validate(changes, given);
      const errorsIn = (sound: typeof sent.value) => marketing.errorsIn(project.id, sound);
      const settings = await marketing.change(project.id, requireAll(sent, errorsIn), onTrail(project));
      const what = `Changed for ${project.slug}: ${Object.keys(given).join(', ')}.`;
      return { json: settings, text: `${what}\n${outlookOf(marketing, project.id, settings)}` };
    });
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
