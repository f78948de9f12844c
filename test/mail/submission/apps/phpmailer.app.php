<?php
// Sends one mail as WordPress does, with the settings that the guide has.
require '/usr/share/php/libphp-phpmailer/autoload.php';

$mail = new PHPMailer\PHPMailer\PHPMailer(true);
$mail->isSMTP();
$mail->Host = 'localhost';
$mail->Port = getenv('PORT');
$mail->SMTPSecure = 'tls';
$mail->SMTPAuth = true;
$mail->Username = 'satchel';
$mail->Password = getenv('KEY');
$mail->CharSet = 'utf-8';
$mail->setFrom('hello@shop.example.com', 'Shöp');
$mail->addAddress('ada@example.org');
$mail->Subject = getenv('SUBJECT');
$mail->Body = getenv('TEXT');
$mail->addAttachment(getenv('FILE'), 'ä.bin');
$mail->send();
