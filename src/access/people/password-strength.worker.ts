/** Judges one password, in a thread that passwords.ts starts. */

import { ZxcvbnFactory } from '@zxcvbn-ts/core';
import { adjacencyGraphs, dictionary } from '@zxcvbn-ts/language-common';
import { JUDGED_PASSWORD_CHARS } from '../../limits.ts';
import { serve } from '../../platform/host/threads.ts';
import type { StrengthRequest } from './passwords.ts';

serve(({ password, own_words }: StrengthRequest): number => {
  // The library counts UTF-16 units, of which a code point has at most two.
  const maxLength = 2 * JUDGED_PASSWORD_CHARS;
  const judge = new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs, maxLength });
  return judge.check(password, [...own_words]).score;
});
