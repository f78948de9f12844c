/**
 * Who fetches pictures and follows links of mails for people: the picture proxies of mail providers, and
 * gateways that look for harm. To be looked through with each release; the lists that it is kept by are named
 * at each.
 */
import { isbot } from 'isbot';

/**
 * Picture proxies. Apple's says nothing but `Mozilla/5.0`, whether its owner looks at the mail or not. The
 * others are in github.com/matomo-org/device-detector (regexes/bots.yml) and
 * github.com/monperrus/crawler-user-agents; the one that ends with `Edge/12.246 Mozilla/5.0` is Google's too,
 * ahead of the reader (gmass.co/blog/false-opens-in-gmail).
 */
const PICTURE_PROXIES = [
  /^Mozilla\/5\.0$/,
  /GoogleImageProxy|ggpht\.com/i,
  /Edge\/12\.246 Mozilla\/5\.0$/,
  /YahooMailProxy/i,
  /Seznam-?Email-?Proxy/i,
  /FastmailUA\//i,
  /Shortwave Image Fetcher/i,
];

/**
 * Gateways, by the names that their makers give them. Barracuda's is in the lists above; the others are those
 * that senders report (for one, suped.com: which corporate filters follow links).
 */
const GATEWAYS = [
  /\b(?:barracuda|proofpoint|mimecast|symantec|messagelabs|trend ?micro|forcepoint|sophos|fire ?eye|trellix)/i,
  /\b(?:ironport|cisco ?secure ?email|forti(?:mail|guard|sandbox)|sonicwall|zscaler|avanan|vade ?secure|safelinks)/i,
];

/**
 * Whether one of them fetched a picture. Other robots are not asked for: mail programs of people have all
 * kinds of names.
 */
export function isPictureMachine(user_agent: string): boolean {
  return [...PICTURE_PROXIES, ...GATEWAYS].some((name) => name.test(user_agent));
}

/** Whether a link was followed by a program: people do that with browsers, which say so. */
export function isLinkMachine(user_agent: string): boolean {
  return isbot(user_agent) || isPictureMachine(user_agent);
}
