/** English words of public pages and of marketing mail's layout. Every language has the same keys. */

const NO_SIGN_UPS = 'This list takes no sign-ups at the moment.';
const LATER = 'Please try again later.';

export const en = {
  /** Headings and texts of refusals, whatever is refused. */
  refusals: {
    not_understood: {
      title: 'Not understood',
      text: 'This page got something else than it expected. Please go back and try again.',
    },
    not_allowed: { title: 'Not allowed', text: 'You may not do this here.' },
    not_found: { title: 'Not found', text: 'There is nothing at this address, or no longer.' },
    not_possible: { title: 'Not possible at the moment', text: LATER },
    too_many: {
      title: 'Too many requests',
      text: ({ wait }: { wait: string }): string => `Please try again in ${wait}.`,
    },
    broken: { title: 'Something went wrong', text: `That was our fault. ${LATER}` },
  },
  /** Texts of refusals that say more, by the code of the failure. */
  texts: {
    no_sign_up_page: 'Nobody can sign up here, or no longer.',
    list_archived: NO_SIGN_UPS,
    captcha_unusable: NO_SIGN_UPS,
    confirmation_template_unusable: NO_SIGN_UPS,
    public_url: NO_SIGN_UPS,
  },
  join: {
    title: ({ list }: { list: string }): string => `Sign up for ${list}`,
    email: 'Email',
    first_name: 'First name (optional)',
    /** Beside a box. */
    tracking: 'Count what I open and click',
    trap: 'Leave this empty',
    button: 'Sign up',
    promise: ({ brand }: { brand: string }): string =>
      `${brand} sends you a mail with a link that confirms. You can leave whenever you like.`,
    thanks_title: 'Thank you',
    thanks: 'If a confirmation is needed, a mail is on its way to you: please follow the link in it.',
    /** What is wrong with a field of the form. */
    wrong: {
      email: 'Please enter an email address, such as ann@example.com.',
      first_name: 'Please enter a first name, without a web address.',
      last_name: 'Please enter a last name, without a web address.',
      captcha_token: 'Please solve the captcha once more.',
    },
  },
  confirm: {
    title: 'Confirm your subscription',
    question: ({ email, brand }: { email: string; brand: string }): string =>
      `Do you want ${email} to get mail from ${brand}?`,
    button: 'Yes, confirm',
    done_title: 'You are subscribed',
    done: ({ email }: { email: string }): string => `${email} is confirmed. Thank you.`,
    unchanged_title: 'Nothing was changed',
    closed: 'This list takes nobody any more.',
    left: ({ email }: { email: string }): string => `${email} was unsubscribed meanwhile, and stays so.`,
    unknown_title: 'This link no longer works',
    unknown: 'It may have expired: sign up again to get a new one.',
  },
  unsubscribe: {
    title: 'Unsubscribe',
    question: ({ email, brand }: { email: string; brand: string }): string =>
      `Do you want no more mail from ${brand} to ${email}?`,
    button: 'Unsubscribe',
    done_title: 'You are unsubscribed',
    done: ({ email, brand }: { email: string; brand: string }): string =>
      `${email} gets no more marketing mail from ${brand}.`,
    oops: 'Was that a mistake? For ten minutes you can take it back here.',
    take_back: 'Take it back',
    back_title: 'You are subscribed again',
    back: ({ email, brand }: { email: string; brand: string }): string =>
      `${email} gets mail from ${brand} as before.`,
    too_late_title: 'This cannot be taken back any more',
    too_late: ({ email, brand }: { email: string; brand: string }): string =>
      `${email} gets no marketing mail from ${brand}. An unsubscription can be taken back for ten minutes, on the page that showed it. To get mail again, please sign up again.`,
    test_title: 'This was a test',
    test: 'Here the readers of the mail unsubscribe. In a test the link acts for nobody: nothing was changed.',
    unknown_title: 'This link does not work',
    unknown: 'Please follow the whole link of the mail. Nothing was changed.',
  },
  choices: {
    title: 'Or choose what you get',
    pause: 'Pause for 30 days',
    paused: ({ date }: { date: string }): string => `Paused until ${date}`,
    button: 'Save my choices',
    done_title: 'Your choices are saved',
    done: ({ email }: { email: string }): string => `They hold for ${email} from now on.`,
    confirm: ({ list }: { list: string }): string =>
      `To get ${list}, please follow the link in the mail that is on its way to you.`,
  },
  link: {
    unknown_title: 'This link does not work',
    unknown: 'Please follow the whole link of the mail. It may also lead to something that is gone.',
    hidden_title: 'This link is not for people',
    hidden: 'Nobody sees it in the mail: it tells programs that open every link from people who follow one.',
  },
  archive: {
    title: ({ list }: { list: string }): string => `Past issues of ${list}`,
    none: 'Nothing was sent yet.',
    newer: 'Newer',
    older: 'Older',
    feed: 'Feed (Atom)',
  },
  mail: {
    view: 'Read in the browser',
    unsubscribe: 'Unsubscribe',
  },
};
