/**
 * Columns that tell whether somebody may be mailed, as spreadsheets and the services that people come from have them, and what their
 * words mean. Pure functions.
 *
 * Of Mailchimp (`UNSUB_TIME`, `CLEAN_TIME`), listmonk (`status`: enabled, disabled, blocklisted), Ghost (`subscribed_to_emails`), Brevo
 * (`OPT_IN`, `email_marketing`), Klaviyo (`Email Marketing Consent`, `Email Suppressions`), Sendy (Active, Marked as spam; `unsubscribed`,
 * `bounced`, `complaint`), Kit (cancelled), Buttondown (`unsubscription_date`), Shopify (`Accepts Email Marketing`), HubSpot and Satchel.
 */
import { SUPPRESSION_KINDS, type SuppressionKind } from '../suppressions/service.ts';

/**
 * What a column tells: a state in words; a no of one kind, wherever it is not empty; or `suppressions`, a no whose words may say of
 * which kind.
 */
export const STATUS_COLUMNS = ['state', 'suppressions', ...SUPPRESSION_KINDS] as const;
export type StatusColumn = (typeof STATUS_COLUMNS)[number];

/** As `plain` has them. What speaks of SMS or of payment is not here, nor is what says whether an opt-in was confirmed. */
const HEADERS: Readonly<Record<StatusColumn, string>> = {
  state:
    'status subscribed issubscribed subscribedtoemails subscriptionstatus emailsubscriptionstatus emailstatus emailmarketing ' +
    'emailmarketingstatus emailmarketingconsent emailmarketingsubscriptionstatus optin optedin optinstatus emailoptin emailoptinstatus ' +
    'subscriberstatus contactstatus mailingstatus marketingstatus newsletterstatus acceptsmarketing acceptsemailmarketing ' +
    'abonniert angemeldet abostatus abonnentenstatus anmeldestatus kontaktstatus ' +
    'statut abonne inscrit statutabonnement statutdabonnement statutdelabonnement statutinscription statutdinscription statutducontact ' +
    'estado estatus suscrito suscripto estadosuscripcion estadodesuscripcion estadodelasuscripcion estadodelsuscriptor estadodelcontacto',
  suppressions: 'suppression suppressions suppressionreason emailsuppression emailsuppressions',
  hard_bounce:
    'bounced isbounced bouncedat bouncetime bouncedate hardbounce hardbounced hardbouncedat cleaned cleanedat cleantime undeliverable ' +
    'unzustellbar rebond rejete rebote rebotado',
  manual:
    'blocklist blocklisted isblocklisted emailblocklisted blacklist blacklisted isblacklisted emailblacklist emailblacklisted ' +
    'blocked suppressed issuppressed suppressedat emailsuppressed donotemail donotmail donotcontact ' +
    'gesperrt blockiert bloque listenoire bloqueado listanegra',
  unsubscribed:
    'unsub unsubtime unsubdate unsubscribe unsubscribed isunsubscribed unsubscribedat unsubscribedon unsubscribetime unsubscribedate ' +
    'dateunsubscribed unsubscriptiondate unsubscribedfromemail unsubscribedfromemails unsubscribedfromallemail optout optedout ' +
    'isoptedout optedoutat optoutat optouttime optoutdate emailoptout emailoptedout optedoutofemail hasoptedoutofemail ' +
    'abgemeldet abgemeldetam abmeldung abmeldedatum datumderabmeldung abbestellt abbestelltam ausgetragen ausgetragenam ' +
    'desabonne desabonnement desabonnele datededesabonnement desinscrit desinscription desinscritle datededesinscription ' +
    'baja dadodebaja fechabaja fechadebaja desuscrito',
  complaint:
    'complaint complained complainedat complainttime spam spamcomplaint spamcomplaintat spamreported markedasspam beschwerde plainte queja',
};

/** A yes and a no as programs write them in each language. */
const YES = 'true yes 1 wahr ja vrai oui verdadero si';
const NO = 'false no 0 falsch nein faux non falso';
/** Words of a state that say no. */
const NOES: Readonly<Record<SuppressionKind, string>> = {
  hard_bounce:
    'bounced bounce hardbounce hardbounced cleaned undeliverable invalidemail unzustellbar rejete rebote rebotado',
  manual:
    'blocklisted blacklisted disabled blocked suppressed usersuppressed gesperrt blockiert bloque bloquee bloqueado bloqueada ' +
    'listenoire listanegra',
  unsubscribed:
    `${NO} unsubscribed unsubscribe unsub cancelled canceled optedout optout abgemeldet abbestellt ausgetragen gekundigt ` +
    'desabonne desabonnee desinscrit desinscrite dadodebaja dadadebaja baja desuscrito desuscrita cancelado cancelada',
  complaint:
    'complaint complained complaints spam spamcomplaint spamreported markedasspam beschwerde plainte queja',
};
/** Words of a state that say yes. */
const YESES =
  `${YES} active subscribed subscribe confirmed enabled optedin optin aktiv abonniert angemeldet bestatigt ` +
  'actif abonne abonnee inscrit inscrite confirme confirmee activo activa suscrito suscrita confirmado confirmada';

const words = (text: string): readonly string[] => text.split(' ');
const COLUMN_BY_HEADER = new Map(
  STATUS_COLUMNS.flatMap((column) => words(HEADERS[column]).map((header) => [header, column] as const)),
);
const NO_BY_WORD = new Map(
  SUPPRESSION_KINDS.flatMap((kind) => words(NOES[kind]).map((word) => [word, kind] as const)),
);
const YES_WORDS = new Set(words(YESES));
/** In a column of a no: there is none. Zeros are a date, in databases that have no other word for it. */
const NONE = new Set([...words(NO), '', '-', '\u2013', '\u2014']);
const ZEROS = /^[0 :/.-]*0[0 :/.-]*$/;

/** What a column with this header tells; null where it is no status. */
export function statusColumnOf(header: string): StatusColumn | null {
  return COLUMN_BY_HEADER.get(plain(header)) ?? null;
}

/** What a row says: the strongest no, or null, and the words that are neither a yes nor a no. */
interface Standing {
  no: SuppressionKind | null;
  unknown: string[];
}

/** `cells` without blanks around them. */
export function standingOf(told: readonly { tells: StatusColumn; cell: string }[]): Standing {
  const noes: SuppressionKind[] = [];
  const unknown: string[] = [];
  for (const { tells, cell } of told) {
    if (cell === '') continue;
    if (tells !== 'state') noes.push(...noesIn(tells, cell));
    else {
      const no = NO_BY_WORD.get(plain(cell));
      if (no) noes.push(no);
      else if (!YES_WORDS.has(plain(cell))) unknown.push(cell);
    }
  }
  return { no: strongest(noes), unknown };
}

function noesIn(tells: Exclude<StatusColumn, 'state'>, cell: string): SuppressionKind[] {
  if (NONE.has(cell.toLowerCase()) || ZEROS.test(cell)) return [];
  if (tells !== 'suppressions') return [tells];
  // `['HARD_BOUNCE', 'USER_SUPPRESSED']`
  const kinds = cell
    .split(/[^\p{Letter}\p{Number}_ ]+/u)
    .flatMap((word) => NO_BY_WORD.get(plain(word)) ?? []);
  return kinds.length > 0 ? kinds : ['manual'];
}

function strongest(kinds: readonly SuppressionKind[]): SuppressionKind | null {
  return SUPPRESSION_KINDS.findLast((kind) => kinds.includes(kind)) ?? null;
}

/** Whether clicks may be counted: the API's words, and a yes or a no; null for any other. */
export function trackingIn(cell: string): 'allowed' | 'refused' | null {
  const word = plain(cell);
  if (word === 'allowed' || words(YES).includes(word)) return 'allowed';
  return word === 'refused' || words(NO).includes(word) ? 'refused' : null;
}

/** `E-Mail-Adresse`, `Prénom` and `CORREO ELECTRÓNICO` as they stand in lists of words: small letters and digits alone. */
export function plain(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^\p{Letter}\p{Number}]/gu, '');
}
