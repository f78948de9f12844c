/** What public pages and the layout of marketing mail say in German. */
import type { Words } from './words.ts';

const NO_SIGN_UPS = 'Für diese Liste kann man sich im Moment nicht anmelden.';
const LATER = 'Bitte versuchen Sie es später noch einmal.';

export const de: Words = {
  refusals: {
    not_understood: {
      title: 'Nicht verstanden',
      text: 'Diese Seite hat etwas anderes erhalten als erwartet. Bitte gehen Sie zurück und versuchen Sie es noch einmal.',
    },
    not_allowed: { title: 'Nicht erlaubt', text: 'Das dürfen Sie hier nicht.' },
    not_found: { title: 'Nicht gefunden', text: 'Unter dieser Adresse gibt es nichts (mehr).' },
    not_possible: { title: 'Im Moment nicht möglich', text: LATER },
    too_many: {
      title: 'Zu viele Anfragen',
      text: ({ wait }) => `Bitte versuchen Sie es später noch einmal (Wartezeit: ${wait}).`,
    },
    broken: { title: 'Etwas ist schiefgegangen', text: `Das lag an uns. ${LATER}` },
  },
  texts: {
    no_sign_up_page: 'Hier kann man sich nicht (mehr) anmelden.',
    list_archived: NO_SIGN_UPS,
    captcha_unusable: NO_SIGN_UPS,
    confirmation_template_unusable: NO_SIGN_UPS,
    public_url: NO_SIGN_UPS,
  },
  join: {
    title: ({ list }) => `Anmeldung für ${list}`,
    email: 'E-Mail-Adresse',
    first_name: 'Vorname (freiwillig)',
    tracking: 'Zählen, was ich öffne und anklicke',
    trap: 'Bitte leer lassen',
    button: 'Anmelden',
    promise: ({ brand }) =>
      `${brand} schickt Ihnen eine E-Mail mit einem Link zur Bestätigung. Sie können sich jederzeit wieder abmelden.`,
    thanks_title: 'Vielen Dank',
    thanks:
      'Falls eine Bestätigung nötig ist, ist eine E-Mail an Sie unterwegs: Bitte klicken Sie auf den Link darin.',
    wrong: {
      email: 'Bitte geben Sie eine E-Mail-Adresse ein, zum Beispiel anna@example.com.',
      first_name: 'Bitte geben Sie einen Vornamen ohne Internetadresse ein.',
      last_name: 'Bitte geben Sie einen Nachnamen ohne Internetadresse ein.',
      captcha_token: 'Bitte lösen Sie das Captcha noch einmal.',
    },
  },
  confirm: {
    title: 'Anmeldung bestätigen',
    question: ({ email, brand }) => `Soll ${email} E-Mails von ${brand} erhalten?`,
    button: 'Ja, bestätigen',
    done_title: 'Sie sind angemeldet',
    done: ({ email }) => `${email} ist bestätigt. Vielen Dank.`,
    unchanged_title: 'Es wurde nichts geändert',
    closed: 'Diese Liste nimmt niemanden mehr auf.',
    left: ({ email }) => `${email} wurde inzwischen abgemeldet, und dabei bleibt es.`,
    unknown_title: 'Dieser Link funktioniert nicht mehr',
    unknown: 'Vielleicht ist er abgelaufen: Melden Sie sich noch einmal an, um einen neuen zu erhalten.',
  },
  unsubscribe: {
    title: 'Abmelden',
    question: ({ email, brand }) => `Möchten Sie an ${email} keine E-Mails mehr von ${brand} erhalten?`,
    button: 'Abmelden',
    done_title: 'Sie sind abgemeldet',
    done: ({ email, brand }) => `${email} erhält keine Werbung mehr von ${brand}.`,
    oops: 'War das ein Versehen? Zehn Minuten lang können Sie es hier zurücknehmen.',
    take_back: 'Zurücknehmen',
    back_title: 'Sie sind wieder angemeldet',
    back: ({ email, brand }) => `${email} erhält wie zuvor E-Mails von ${brand}.`,
    too_late_title: 'Das lässt sich nicht mehr zurücknehmen',
    too_late: ({ email, brand }) =>
      `${email} erhält keine Werbung von ${brand}. Eine Abmeldung lässt sich zehn Minuten lang auf der Seite zurücknehmen, die sie angezeigt hat. Um wieder E-Mails zu erhalten, melden Sie sich bitte neu an.`,
    test_title: 'Das war ein Test',
    test: 'Hier melden sich die Leser der E-Mail ab. In einem Test gilt der Link für niemanden: Es wurde nichts geändert.',
    unknown_title: 'Dieser Link funktioniert nicht',
    unknown: 'Bitte rufen Sie den vollständigen Link aus der E-Mail auf. Es wurde nichts geändert.',
  },
  choices: {
    title: 'Oder wählen Sie aus, was Sie bekommen',
    pause: '30 Tage Pause',
    paused: ({ date }) => `Pause bis ${date}`,
    button: 'Auswahl speichern',
    done_title: 'Ihre Auswahl ist gespeichert',
    done: ({ email }) => `Sie gilt ab sofort für ${email}.`,
    confirm: ({ list }) =>
      `Um ${list} zu bekommen, folgen Sie bitte dem Link in der E-Mail, die zu Ihnen unterwegs ist.`,
  },
  link: {
    unknown_title: 'Dieser Link funktioniert nicht',
    unknown:
      'Bitte rufen Sie den vollständigen Link aus der E-Mail auf. Vielleicht gibt es auch das Ziel nicht mehr.',
    hidden_title: 'Dieser Link ist nicht für Menschen gedacht',
    hidden:
      'In der E-Mail ist er unsichtbar: Er unterscheidet Programme, die jeden Link öffnen, von Menschen, die einem folgen.',
  },
  archive: {
    title: ({ list }) => `Frühere Ausgaben von ${list}`,
    none: 'Bisher wurde nichts verschickt.',
    newer: 'Neuere',
    older: 'Ältere',
    feed: 'Atom-Feed',
  },
  mail: {
    view: 'Im Browser lesen',
    unsubscribe: 'Abmelden',
  },
};
