/** The thread of password-strength.ts: judges one password. */
import { ZxcvbnFactory } from '@zxcvbn-ts/core';
import { adjacencyGraphs, dictionary } from '@zxcvbn-ts/language-common';
import { JUDGED_PASSWORD_CHARS } from '../../limits.ts';
import type { StrengthReply, StrengthRequest } from './password-strength.ts';

declare const self: Worker;

self.onmessage = ({ data }: MessageEvent<StrengthRequest>) => {
  // The library counts UTF-16 units, of which a code point has at most two.
  const judge = new ZxcvbnFactory({
    dictionary,
    graphs: adjacencyGraphs,
    maxLength: 2 * JUDGED_PASSWORD_CHARS,
  });
  const { score } = judge.check(data.password, [...data.own_words]);
  self.postMessage({ score } satisfies StrengthReply);
};
