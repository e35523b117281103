"""The one package that talks to models; live, recorded and scripted services all answer `reply(request)`."""

from scenecypher.chat.canonical import request_hash
from scenecypher.chat.cassette import Recording, Replaying
from scenecypher.chat.clean import clean_cypher, clean_json, clean_reply
from scenecypher.chat.live import OpenAIModel
from scenecypher.chat.model import Image, Message, Model, Reply, ReplySource, Request, Service, Usage
from scenecypher.chat.scripted import Scripted, ScriptedReply
from scenecypher.chat.structured_reply import ask_for, schema_of

__all__ = [
    "Image",
    "Message",
    "Model",
    "OpenAIModel",
    "Recording",
    "Replaying",
    "Reply",
    "ReplySource",
    "Request",
    "Scripted",
    "ScriptedReply",
    "Service",
    "Usage",
    "ask_for",
    "clean_cypher",
    "clean_json",
    "clean_reply",
    "request_hash",
    "schema_of",
]
