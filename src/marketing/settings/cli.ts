/** `satchel marketing`: who a project's marketing comes from, how it looks, when and how much of it goes out. */
import type { Projects } from '../../access/projects/service.ts';
import { type Cli, UsageError } from '../../platform/cli/cli.ts';
import { inOptions } from '../../platform/cli/fields.ts';
import {
  limitOption,
  limitOrWord,
  listOption,
  type Options,
  requireChanges,
  textOption,
} from '../../platform/cli/options.ts';
import { projectOf } from '../../platform/cli/project-option.ts';
import { formatFields } from '../../platform/cli/tables.ts';
import { requireAll, validate } from '../../platform/http/validation.ts';
import { changes } from './schemas.ts';
import { lackOf, type MarketingSettings, type Settings } from './service.ts';

interface Needs {
  projects: Projects;
  marketing: MarketingSettings;
}

const OPTION_OF_FIELD = {
  from_name: '--from-name',
  reply_to: '--reply-to',
  postal_address: '--postal-address',
  brand_name: '--brand-name',
  brand_color: '--brand-color',
  brand_logo_url: '--brand-logo',
  brand_website_url: '--brand-website',
  daily_cap: '--daily-cap',
  send_window_start: '--window',
  send_window_end: '--window',
  timezone: '--timezone',
  bounce_pause_threshold_percent: '--bounce-threshold',
  accounts: '--accounts',
};

/** Registers `satchel marketing show | change`. */
export function registerMarketingCommands(cli: Cli<Needs>): void {
  const noun = cli.noun('marketing', "a project's marketing: its sender, its look, its times");
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
    .option('--enabled', 'marketing mail may go out')
    .option('--no-enabled', 'none does')
    .option('--from-name <name>', 'who its mails come from')
    .option('--reply-to <address>', 'where answers go')
    .option('--postal-address <address>', 'in the footer of each mail')
    .option('--brand-name <name>', 'the name on pages and in mails')
    .option('--brand-color <color>', 'such as #1a73e8')
    .option('--brand-logo <url>', 'an https address')
    .option('--brand-website <url>', 'where the logo leads')
    .option('--daily-cap <n>', 'marketing mails a UTC day; none for no cap', limitOrWord(1, 'none'))
    .option('--window <from-to>', 'when mail may go out, such as 09:00-17:30; always')
    .option('--timezone <zone>', 'the IANA zone of the window')
    .option('--bounce-threshold <percent>', 'a sequence pauses when so many of its last 100 bounced')
    .option('--accounts <addresses>', 'the only mailboxes it goes out from; empty: every one for marketing')
    .example(
      'satchel marketing change --project shop --enabled --from-name Shop --postal-address "1 High Street, Springfield"',
      'satchel marketing change --project shop --window 09:00-17:30 --timezone Europe/Berlin --daily-cap 5000',
    )
    .does(async ({ services: { marketing, ...services }, onTrail }, options) => {
      const project = projectOf(services, options);
      const given = requireChanges(fieldsOf(options));
      const settings = await inOptions(OPTION_OF_FIELD, () => {
        const sent = validate(changes, given);
        const errorsIn = (sound: typeof sent.value) => marketing.errorsIn(project.id, sound);
        return marketing.change(project.id, requireAll(sent, errorsIn), onTrail(project));
      });
      const what = `Changed for ${project.slug}: ${Object.keys(given).join(', ')}.`;
      return { json: settings, text: `${what}\n${outlookOf(marketing, project.id, settings)}` };
    });
}

function fieldsOf(options: Options): Record<string, unknown> {
  const clearable = (name: string) => {
    const text = textOption(options, name);
    return text === '' ? null : text;
  };
  const threshold = textOption(options, 'bounceThreshold');
  return {
    enabled: options.enabled,
    from_name: clearable('fromName'),
    reply_to: clearable('replyTo'),
    postal_address: clearable('postalAddress'),
    brand_name: clearable('brandName'),
    brand_color: clearable('brandColor'),
    brand_logo_url: clearable('brandLogo'),
    brand_website_url: clearable('brandWebsite'),
    daily_cap: limitOption(options, 'dailyCap'),
    ...windowOf(textOption(options, 'window')),
    timezone: textOption(options, 'timezone'),
    bounce_pause_threshold_percent: threshold === undefined ? undefined : Number(threshold),
    accounts: options.accounts === undefined ? undefined : listOption(options, 'accounts'),
  };
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
