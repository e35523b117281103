"""The one place that talks to models: live, recorded or scripted, they all answer `reply(request)`."""

from scenecypher.chat.canonical import request_hash
from scenecypher.chat.cassette import Recording, Replaying
from scenecypher.chat.clean import clean, clean_cypher, clean_json
from scenecypher.chat.form import ask_for, schema_of
from scenecypher.chat.live import OpenAIModel
from scenecypher.chat.model import Image, Message, Model, Reply, Request, Service, Source, Usage
from scenecypher.chat.scripted import Scripted, ScriptedReply

__all__ = [
    "Image",
    "Message",
    "Model",
    "OpenAIModel",
    "Recording",
    "Replaying",
    "Reply",
    "Request",
    "Scripted",
    "ScriptedReply",
    "Service",
    "Source",
    "Usage",
    "ask_for",
    "clean",
    "clean_cypher",
    "clean_json",
    "request_hash",
    "schema_of",
]
