/** What public pages and the layout of marketing mail say in French. */
import type { Words } from './words.ts';

const NO_SIGN_UPS = 'Les inscriptions à cette liste sont fermées pour le moment.';
const LATER = 'Veuillez réessayer plus tard.';

export const fr: Words = {
  refusals: {
    not_understood: {
      title: 'Demande non comprise',
      text: 'Cette page n’a pas reçu ce qu’elle attendait. Veuillez revenir en arrière et réessayer.',
    },
    not_allowed: { title: 'Accès refusé', text: 'Vous n’avez pas le droit de faire cela ici.' },
    not_found: { title: 'Page introuvable', text: 'Il n’y a rien, ou plus rien, à cette adresse.' },
    not_possible: { title: 'Impossible pour le moment', text: LATER },
    too_many: {
      title: 'Trop de demandes',
      text: ({ wait }) => `Veuillez réessayer dans ${wait}.`,
    },
    broken: { title: 'Une erreur s’est produite', text: `Le problème vient de notre côté. ${LATER}` },
  },
  texts: {
    no_sign_up_page: 'Il n’est pas possible, ou plus possible, de s’inscrire ici.',
    list_archived: NO_SIGN_UPS,
    captcha_unusable: NO_SIGN_UPS,
    confirmation_template_unusable: NO_SIGN_UPS,
    public_url: NO_SIGN_UPS,
  },
  join: {
    title: ({ list }) => `Inscription à ${list}`,
    email: 'Adresse e-mail',
    first_name: 'Prénom (facultatif)',
    tracking: 'Compter mes ouvertures et mes clics',
    trap: 'Laissez ce champ vide',
    button: 'S’inscrire',
    promise: ({ brand }) =>
      `${brand} vous enverra un e-mail contenant un lien de confirmation. Vous pourrez vous désabonner à tout moment.`,
    thanks_title: 'Merci',
    thanks:
      'Si une confirmation est nécessaire, un e-mail vous a été envoyé : veuillez cliquer sur le lien qu’il contient.',
    wrong: {
      email: 'Veuillez saisir une adresse e-mail, par exemple anne@example.com.',
      first_name: 'Veuillez saisir un prénom, sans adresse web.',
      last_name: 'Veuillez saisir un nom, sans adresse web.',
      captcha_token: 'Veuillez résoudre le captcha à nouveau.',
    },
  },
  confirm: {
    title: 'Confirmez votre inscription',
    question: ({ email, brand }) => `Souhaitez-vous recevoir les e-mails de ${brand} à l’adresse ${email} ?`,
    button: 'Oui, je confirme',
    done_title: 'Inscription confirmée',
    done: ({ email }) => `L’adresse ${email} est confirmée. Merci.`,
    unchanged_title: 'Rien n’a été modifié',
    closed: 'Cette liste n’accepte plus d’inscriptions.',
    left: ({ email }) => `L’adresse ${email} a été désabonnée entre-temps, et le reste.`,
    unknown_title: 'Ce lien ne fonctionne plus',
    unknown: 'Il a peut-être expiré : inscrivez-vous à nouveau pour en recevoir un autre.',
  },
  unsubscribe: {
    title: 'Se désabonner',
    question: ({ email, brand }) =>
      `Souhaitez-vous ne plus recevoir d’e-mails de ${brand} à l’adresse ${email} ?`,
    button: 'Me désabonner',
    done_title: 'Désabonnement effectué',
    done: ({ email, brand }) => `L’adresse ${email} ne recevra plus d’e-mails promotionnels de ${brand}.`,
    oops: 'C’était une erreur ? Pendant dix minutes, vous pouvez revenir en arrière ici.',
    take_back: 'Annuler le désabonnement',
    back_title: 'Votre abonnement est rétabli',
    back: ({ email, brand }) => `L’adresse ${email} reçoit de nouveau les e-mails de ${brand}.`,
    too_late_title: 'Il est trop tard pour revenir en arrière',
    too_late: ({ email, brand }) =>
      `L’adresse ${email} ne reçoit pas d’e-mails promotionnels de ${brand}. Un désabonnement peut être annulé pendant dix minutes, sur la page qui l’a confirmé. Pour recevoir de nouveau des e-mails, veuillez vous réinscrire.`,
    test_title: 'C’était un test',
    test: 'C’est ici que les destinataires de l’e-mail se désabonnent. Dans un test, le lien ne concerne personne : rien n’a été modifié.',
    unknown_title: 'Ce lien ne fonctionne pas',
    unknown: 'Veuillez ouvrir le lien complet de l’e-mail. Rien n’a été modifié.',
  },
  choices: {
    title: 'Ou choisissez ce que vous recevez',
    pause: 'Faire une pause de 30 jours',
    paused: ({ date }) => `En pause jusqu’au ${date}`,
    button: 'Enregistrer mes choix',
    done_title: 'Vos choix sont enregistrés',
    done: ({ email }) => `Ils s’appliquent dès maintenant à ${email}.`,
    confirm: ({ list }) =>
      `Pour recevoir ${list}, veuillez suivre le lien du message qui vient de vous être envoyé.`,
  },
  link: {
    unknown_title: 'Ce lien ne fonctionne pas',
    unknown: 'Veuillez ouvrir le lien complet de l’e-mail. La page visée n’existe peut-être plus.',
    hidden_title: 'Ce lien n’est pas destiné aux personnes',
    hidden:
      'Il est invisible dans l’e-mail : il permet de distinguer les programmes qui ouvrent tous les liens des personnes qui en suivent un.',
  },
  archive: {
    title: ({ list }) => `Anciens numéros de ${list}`,
    none: 'Rien n’a encore été envoyé.',
    newer: 'Plus récents',
    older: 'Plus anciens',
    feed: 'Flux (Atom)',
  },
  mail: {
    view: 'Lire dans le navigateur',
    unsubscribe: 'Se désabonner',
  },
};
