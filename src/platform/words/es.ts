/** What public pages and the layout of marketing mail say in Spanish. */
import type { Words } from './words.ts';

const NO_SIGN_UPS = 'En este momento esta lista no admite suscripciones.';
const LATER = 'Inténtelo de nuevo más tarde.';

export const es: Words = {
  refusals: {
    not_understood: {
      title: 'Solicitud no válida',
      text: 'Esta página no ha recibido lo que esperaba. Vuelva atrás e inténtelo de nuevo.',
    },
    not_allowed: { title: 'No permitido', text: 'No puede hacer esto aquí.' },
    not_found: { title: 'Página no encontrada', text: 'No hay nada en esta dirección, o ya no lo hay.' },
    not_possible: { title: 'No es posible en este momento', text: LATER },
    too_many: {
      title: 'Demasiadas solicitudes',
      text: ({ wait }) => `Inténtelo de nuevo dentro de ${wait}.`,
    },
    broken: { title: 'Algo ha fallado', text: `El problema es nuestro. ${LATER}` },
  },
  texts: {
    no_sign_up_page: 'Aquí no es posible suscribirse, o ya no lo es.',
    list_archived: NO_SIGN_UPS,
    captcha_unusable: NO_SIGN_UPS,
    confirmation_template_unusable: NO_SIGN_UPS,
    public_url: NO_SIGN_UPS,
  },
  join: {
    title: ({ list }) => `Suscripción a ${list}`,
    email: 'Correo electrónico',
    first_name: 'Nombre (opcional)',
    tracking: 'Contar mis aperturas y mis clics',
    trap: 'Deje este campo vacío',
    button: 'Suscribirme',
    promise: ({ brand }) =>
      `${brand} le enviará un correo con un enlace de confirmación. Puede darse de baja cuando quiera.`,
    thanks_title: 'Gracias',
    thanks: 'Si hace falta una confirmación, le hemos enviado un correo: siga el enlace que contiene.',
    wrong: {
      email: 'Introduzca una dirección de correo electrónico, por ejemplo ana@example.com.',
      first_name: 'Introduzca un nombre, sin direcciones web.',
      last_name: 'Introduzca un apellido, sin direcciones web.',
      captcha_token: 'Resuelva de nuevo el captcha.',
    },
  },
  confirm: {
    title: 'Confirme su suscripción',
    question: ({ email, brand }) => `¿Quiere recibir en ${email} los correos de ${brand}?`,
    button: 'Sí, confirmar',
    done_title: 'Suscripción confirmada',
    done: ({ email }) => `La dirección ${email} ha quedado confirmada. Gracias.`,
    unchanged_title: 'No se ha cambiado nada',
    closed: 'Esta lista ya no admite suscripciones.',
    left: ({ email }) => `Entretanto, ${email} se dio de baja, y así seguirá.`,
    unknown_title: 'Este enlace ya no funciona',
    unknown: 'Puede que haya caducado: suscríbase de nuevo para recibir otro.',
  },
  unsubscribe: {
    title: 'Darse de baja',
    question: ({ email, brand }) => `¿Quiere dejar de recibir en ${email} los correos de ${brand}?`,
    button: 'Darme de baja',
    done_title: 'Se ha dado de baja',
    done: ({ email, brand }) => `${email} no recibirá más correos publicitarios de ${brand}.`,
    oops: '¿Ha sido un error? Durante diez minutos puede deshacerlo aquí.',
    take_back: 'Deshacer la baja',
    back_title: 'Su suscripción está restablecida',
    back: ({ email, brand }) => `${email} recibe de nuevo los correos de ${brand}.`,
    too_late_title: 'Ya no se puede deshacer',
    too_late: ({ email, brand }) =>
      `${email} no recibe correos publicitarios de ${brand}. Una baja se puede deshacer durante diez minutos, en la página que la confirmó. Para volver a recibir correos, suscríbase de nuevo.`,
    test_title: 'Esto era una prueba',
    test: 'Aquí se dan de baja los destinatarios del correo. En una prueba el enlace no afecta a nadie: no se ha cambiado nada.',
    unknown_title: 'Este enlace no funciona',
    unknown: 'Siga el enlace completo del correo. No se ha cambiado nada.',
  },
  choices: {
    title: 'O elija lo que recibe',
    pause: 'Hacer una pausa de 30 días',
    paused: ({ date }) => `En pausa hasta el ${date}`,
    button: 'Guardar mi selección',
    done_title: 'Su selección se ha guardado',
    done: ({ email }) => `Se aplica desde ahora a ${email}.`,
    confirm: ({ list }) => `Para recibir ${list}, siga el enlace del correo que va camino a su buzón.`,
  },
  link: {
    unknown_title: 'Este enlace no funciona',
    unknown: 'Siga el enlace completo del correo. También puede que la página de destino ya no exista.',
    hidden_title: 'Este enlace no es para personas',
    hidden:
      'En el correo no se ve: distingue a los programas que abren todos los enlaces de las personas que siguen uno.',
  },
  archive: {
    title: ({ list }) => `Números anteriores de ${list}`,
    none: 'Todavía no se ha enviado nada.',
    newer: 'Más recientes',
    older: 'Más antiguos',
    feed: 'Canal (Atom)',
  },
  mail: {
    view: 'Leer en el navegador',
    unsubscribe: 'Darse de baja',
  },
};
