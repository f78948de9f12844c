/**
 * How much of a line inboxes show. They cut by width, so these are rough: about 40 characters of a subject on a telephone and 70 on
 * a desk, and 90 of a preheader, as emailtooltester.com measured in 2023 (Apple Mail on an iPhone 48 and 99, the app of Gmail 33 to 40,
 * Gmail on a desk about 70).
 */
const SUBJECT_ON_PHONE = 40;
const SUBJECT_ON_DESK = 70;
const PREHEADER = 90;

const lengthOf = (text: string): number => [...text.trim()].length;
const counted = (n: number): string => `${n} ${n === 1 ? 'character' : 'characters'}`;

export function subjectHint(text: string): string {
  const n = lengthOf(text);
  if (n === 0)
    return `Telephones show about ${SUBJECT_ON_PHONE} characters of it, a desk about ${SUBJECT_ON_DESK}.`;
  if (n <= SUBJECT_ON_PHONE) return `${counted(n)}: telephones show all of it.`;
  if (n <= SUBJECT_ON_DESK) return `${counted(n)}: telephones cut it after about ${SUBJECT_ON_PHONE}.`;
  return `${counted(n)}: telephones cut it after about ${SUBJECT_ON_PHONE}, a desk after about ${SUBJECT_ON_DESK}.`;
}

export function preheaderHint(text: string): string {
  const n = lengthOf(text);
  if (n === 0) return 'What inboxes show behind the subject. Without one, the beginning of the mail.';
  if (n <= PREHEADER) return `${counted(n)}: inboxes show about ${PREHEADER} behind the subject.`;
  return `${counted(n)}: inboxes cut it after about ${PREHEADER}.`;
}
