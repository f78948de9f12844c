/** The headers by which receivers know marketing mail, and let people leave it. Pure functions. */

/**
 * RFC 8058 asks for the first two, RFC 2919 for the id of the list within a domain of ours. Precedence is
 * left out.
 */
export function mailHeaders(of: {
  public_url: string;
  unsubscribe_url: string;
  list_id: string;
  /** Public id of the project. */
  project_id: string;
  kind: 'sequence' | 'broadcast';
  tag: string;
}): Record<string, string> {
  const host = new URL(of.public_url).hostname;
  const list = of.list_id.toLowerCase();
  return {
    'List-Unsubscribe': `<${of.unsubscribe_url}>`,
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
    'List-Id': `<${list}.${/^[a-z0-9.-]+$/i.test(host) ? host : 'localhost'}>`,
    // What Gmail's postmaster tools count by; the last one names the sender, in 5 to 15 characters.
    'Feedback-ID': `${identifier(of.tag)}:${list}:${of.kind}:${of.project_id.slice(-12).toLowerCase()}`,
  };
}

function identifier(text: string): string {
  return text.replace(/[^A-Za-z0-9._-]+/g, '-') || '-';
}

/** The unsubscribe link of a mail, whose row has it in this header only. */
export function unsubscribeUrlOf(headers: Readonly<Record<string, string>>): string {
  return /<([^>]+)>/.exec(headers['List-Unsubscribe'] ?? '')?.[1] ?? '';
}
