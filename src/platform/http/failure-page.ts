/** The page that tells of a failure. */
import type { AppError, ErrorKind } from '../../errors.ts';
import { ANYBODY, type Reader, type Words, waitInWords } from '../words/words.ts';
import { failureMessage } from './answers.ts';
import { pageResponse, paragraphs } from './pages.ts';

const REFUSAL_OF_KIND: Readonly<Record<ErrorKind, keyof Words['refusals']>> = {
  unsupported: 'not_understood',
  unauthenticated: 'not_allowed',
  forbidden: 'not_allowed',
  not_found: 'not_found',
  method_not_allowed: 'not_found',
  conflict: 'not_possible',
  precondition_failed: 'not_possible',
  too_large: 'not_understood',
  unsupported_type: 'not_understood',
  invalid: 'not_understood',
  locked: 'not_possible',
  rate_limited: 'too_many',
  checksum_mismatch: 'not_understood',
  internal: 'broken',
  upstream_failed: 'not_possible',
  unavailable: 'not_possible',
};

/**
 * The failure as a page in its reader's words. `reader` is undefined where the page is not for anybody: then
 * the failure's own words stay.
 */
export function failurePage(error: AppError, reader: Reader | undefined): Response {
  const { title, text } = (reader ?? ANYBODY).words.refusals[REFUSAL_OF_KIND[error.kind]];
  const words = reader ? (ownText(error, reader) ?? text) : failureMessage(error);
  const shown =
    typeof words === 'string'
      ? words
      : words({ wait: waitInWords(error.retry_after_s ?? 0, reader ?? ANYBODY) });
  return pageResponse(error.status, title, paragraphs(shown), { reader: reader ?? ANYBODY });
}

function ownText({ code }: AppError, { words }: Reader): string | undefined {
  return new Map(Object.entries(words.texts)).get(code ?? '');
}
